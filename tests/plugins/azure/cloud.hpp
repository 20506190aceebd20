// SPDX-License-Identifier: Apache-2.0
// execcred-azure as clients run it, in front of an Entra and a metadata endpoint of a case's own.
#pragma once

#include "support/plugin_rig.hpp"
#include "support/scripted_server.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline constexpr const char* kTenant = "11111111-2222-3333-4444-555555555555";
inline constexpr const char* kOtherTenant = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";
inline constexpr const char* kClient = "99999999-8888-7777-6666-555555555555";
inline constexpr const char* kOtherClient = "00000000-1111-2222-3333-444444444444";
inline constexpr const char* kAks = "6dae42f8-4368-4678-94ff-3960e28e3630";
inline constexpr const char* kImds = "/metadata/identity/oauth2/token";
inline constexpr const char* kAppService = "/msi/token";

struct Ask {
  Texts arguments = {};
  Texts variables = {};
  std::string config = {};      // spec.cluster.config
  std::string server = kSpoke;  // empty: no document from the client
  bool has_cache = true;        // the case's directory
  milliseconds patience = blackbox::kPatience;
};

std::string token_path(const std::string& tenant);

class Cloud : public PluginRig<Ask> {
 public:
  Cloud();

  // The options that say all of workload identity; `AZURE_*` that do.
  Texts workload_options() const;
  Texts workload_variables() const;
  // The metadata endpoint as the one of the machine, or as App Service's.
  Texts imds_variables() const;
  Texts app_service_variables() const;

  // The plugin, with these arguments and variables alone beside the cache's and the authority's CA.
  blackbox::Command command(const Ask& ask) const override;
  Outcome workload(const Texts& arguments = {}, Texts variables = {}) const;
  Outcome managed(const Texts& arguments = {}, const Texts& variables = {}) const;

  // Another token in the federated token file.
  void set_federated(const std::string& content) const;
  // The endpoints' answers from now on.
  void entra_answers(const std::string& body, int status = 200, const std::string& headers = {});
  void imds_answers(const std::string& body, int status = 200, const std::string& headers = {});

  std::size_t calls() const { return entra.requests().size() + metadata.requests().size(); }
  Received last_post() const { return entra.last(token_path(kTenant)); }

  ScriptedServer entra;
  ScriptedServer metadata{ScriptedServer::Transport::plain};
  std::string federated;       // the service account's token
  std::string federated_path;  // its file
  std::string ca_path;
  std::string header;  // IDENTITY_HEADER

 private:
  std::string next_token();

  std::atomic<int> tokens_ = 0;
};

// A service account's token, which no message may show.
std::string service_account_token(const std::string& account, std::int64_t seconds = 3600);
// The members of a good reply with this token.
std::string token_reply(const std::string& token, const std::string& more = "");
// An error as Entra writes it.
std::string entra_error(const std::string& code, const std::string& error,
                        const std::string& description);

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// Runs execcred-azure as clients do, against an Entra and a metadata endpoint of the case.
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

  // All options of workload identity, and the `AZURE_*` variables in place of them.
  Texts workload_options() const;
  Texts workload_variables() const;
  // The variables that make the metadata endpoint the machine's or App Service's.
  Texts imds_variables() const;
  Texts app_service_variables() const;

  // The plugin, with these arguments and variables, and the cache's and the authority's CA alone.
  blackbox::Command command(const Ask& ask) const override;
  Outcome workload(const Texts& arguments = {}, Texts variables = {}) const;
  Outcome managed(const Texts& arguments = {}, const Texts& variables = {}) const;

  // Replaces the content of the federated token file.
  void set_federated(const std::string& content) const;
  // Sets the endpoints' answers from now on.
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
// A valid reply with this token.
std::string token_reply(const std::string& token, const std::string& more = "");
// An error as Entra writes it.
std::string entra_error(const std::string& code, const std::string& error,
                        const std::string& description);

}  // namespace execcred::test

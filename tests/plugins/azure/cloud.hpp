// SPDX-License-Identifier: Apache-2.0
// execcred-azure as clients run it, in front of an Entra and a metadata endpoint of a case's own.
#pragma once

#include "child_process.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "sandbox.hpp"
#include "support/scripted_server.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline constexpr const char* kSpoke = "https://spoke-1.example.com:6443";
inline constexpr const char* kTenant = "11111111-2222-3333-4444-555555555555";
inline constexpr const char* kOtherTenant = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";
inline constexpr const char* kClient = "99999999-8888-7777-6666-555555555555";
inline constexpr const char* kOtherClient = "00000000-1111-2222-3333-444444444444";
inline constexpr const char* kAks = "6dae42f8-4368-4678-94ff-3960e28e3630";
inline constexpr const char* kImds = "/metadata/identity/oauth2/token";
inline constexpr const char* kAppService = "/msi/token";

using Texts = std::vector<std::string>;
using blackbox::milliseconds;
using blackbox::Outcome;

Texts operator+(Texts one, const Texts& other);

struct Ask {
  Texts arguments = {};
  Texts variables = {};
  std::string config = {};      // spec.cluster.config
  std::string server = kSpoke;  // empty: no document from the client
  bool has_cache = true;        // the case's directory
  milliseconds patience = blackbox::kPatience;
};

std::string token_path(const std::string& tenant);

class Cloud {
 public:
  Cloud();

  // The options that say all of workload identity; `AZURE_*` that do.
  Texts workload_options() const;
  Texts workload_variables() const;
  // The metadata endpoint as the one of the machine, or as App Service's.
  Texts imds_variables() const;
  Texts app_service_variables() const;

  // The plugin, with these arguments and variables alone beside the cache's and the authority's CA.
  blackbox::Command command(const Ask& ask) const;
  Outcome run(const Ask& ask) const;
  // The same, with an empty cache.
  Outcome run_cold(const Ask& ask) const;
  Outcome workload(const Texts& arguments = {}, Texts variables = {}) const;
  Outcome managed(const Texts& arguments = {}, const Texts& variables = {}) const;
  void clear_cache() const;

  // Another token in the federated token file.
  void set_federated(const std::string& content) const;
  // What the endpoints answer from now on.
  void entra_answers(const std::string& body, int status = 200, const std::string& headers = {});
  void imds_answers(const std::string& body, int status = 200, const std::string& headers = {});

  std::size_t calls() const { return entra.requests().size() + metadata.requests().size(); }
  Received last_post() const { return entra.last(token_path(kTenant)); }

  ScriptedServer entra;
  ScriptedServer metadata{ScriptedServer::Transport::plain};
  blackbox::Sandbox sandbox;
  std::string federated;       // the service account's token
  std::string federated_path;  // its file
  std::string ca_path;
  std::string cache_path;
  std::string header;  // IDENTITY_HEADER

 private:
  std::string next_token();

  std::atomic<int> tokens_ = 0;
};

// The token of an answer; fails the case where there is none.
std::string token_of(const Outcome& outcome);
// Seconds from now to the claimed end.
std::int64_t claimed_seconds(const Outcome& outcome);
// What is claimed of a credential that ends in so many seconds.
std::int64_t claim_for(std::int64_t seconds);
bool is_about(std::int64_t seconds, std::int64_t expected);

// A service account's token, which no message may show.
std::string service_account_token(const std::string& account, std::int64_t seconds = 3600);
// The members of a good reply with this token.
std::string token_reply(const std::string& token, const std::string& more = "");
// An error as Entra writes it.
std::string entra_error(const std::string& code, const std::string& error,
                        const std::string& description);

}  // namespace execcred::test

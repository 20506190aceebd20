// SPDX-License-Identifier: Apache-2.0
// Argo CD's cluster config: an accepted credential was stored in it and is bound to the server. A
// config that would run a program to get a credential is refused. The input's first line is the
// server, the rest is the config.
#include "fuzz.hpp"
#include "stored_credential.hpp"

#include <execcred/base/text.hpp>
#include <execcred/exec/bearer_token.hpp>

#include <nlohmann/json.hpp>
#include <string>

namespace execcred::fuzz {
namespace {

using static_secret::Options;
using static_secret::StoredCredential;

// 2030-01-01T00:00:00Z
constexpr TimePoint kNow{std::chrono::seconds(1'893'456'000)};

bool is_set(const nlohmann::json& config, const char* name) {
  return config.contains(name) && !config[name].is_null() && config[name] != "";
}

void check_token(const nlohmann::json& config, const StoredCredential& stored) {
  if (stored.credential.token.empty()) return;
  const std::string_view token = stored.credential.token.reveal();
  require(config.contains("bearerToken") && config["bearerToken"].is_string() &&
              trim(config["bearerToken"].get_ref<const std::string&>()) == token,
          "the token that is stored");
  require(is_visible_ascii(token), "a token that a header may hold");
}

void check_credential(std::string_view server, const nlohmann::json& config, const Options& options,
                      const StoredCredential& stored) {
  const Credential& credential = stored.credential;
  require(stored.servers.size() == 1 && stored.servers.front().server == server,
          "bound to its server");
  require(!credential.token.empty() || !credential.client_certificate.empty(), "a credential");
  require(credential.client_certificate.empty() == credential.client_key.empty(), "a whole pair");
  require(options.both || credential.token.empty() || credential.client_certificate.empty(),
          "both only where both are asked for");
  require(!credential.expires_at || *credential.expires_at > kNow, "none that has ended");
  for (const char* name : {"execProviderConfig", "awsAuthConfig", "username"}) {
    require(!is_set(config, name), "nothing that runs or logs in");
  }
  const auto tls = config.find("tlsClientConfig");
  const bool is_insecure =
      tls != config.end() && tls->is_object() && tls->value("insecure", nlohmann::json()) == true;
  require(!is_insecure || options.allow_insecure, "none for a server that is not verified");
  check_token(config, stored);
}

void check_with(std::string_view server, std::string_view text, const Options& options) {
  const Result<StoredCredential> stored =
      static_secret::read_argocd(server, SecretString(text), options, kNow);
  if (!stored) {
    require(stored.error().kind == Error::Kind::no_credential, "a bad config is data");
    require(!stored.error().message.empty(), "the reason is told");
    return;
  }
  const nlohmann::json config = nlohmann::json::parse(text, nullptr, false);
  // Unread fields may contain numbers that no double can hold.
  if (config.is_discarded()) return;
  require(config.is_object(), "an object");
  check_credential(server, config, options, *stored);
}

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> lines = parts(input, "\n", 2);
  check_with(lines[0], lines[1], Options{});
  Options all;
  all.both = true;
  all.allow_insecure = true;
  check_with(lines[0], lines[1], all);
}

}  // namespace execcred::fuzz

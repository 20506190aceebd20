// SPDX-License-Identifier: Apache-2.0
// int128's kubelogin (kubectl oidc-login). Of its grants, only client-credentials works without a
// person.
#include "peers.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace execcred::migrate {
namespace {

constexpr std::string_view kBrowser = "only for interactive logins";
constexpr std::string_view kOwnCache =
    "execcred-oidc-federation keeps a cache of its own (--cache-dir, --no-cache)";
constexpr std::string_view kTls =
    "execcred-oidc-federation always verifies, and does not renegotiate";
constexpr std::string_view kExchange = "kubelogin accepts the flag and ignores it";

constexpr std::array kFlags = std::to_array<Rule>({
    ask("grant-type"),
    keep("oidc-issuer-url", "--issuer-url"),
    keep("oidc-client-id", "--client-id"),
    refuse("oidc-client-secret",
           "a secret on the command line; put it into a file, remove the flag, and add "
           "--client-secret-file=PATH to the migrated entry"),
    ask("oidc-extra-scope").as_list(),
    ask("oidc-use-access-token").as_toggle(),
    ask("oidc-auth-request-extra-params").as_list(),
    refuse("oidc-request-header", "execcred-oidc-federation sends no headers of your own"),
    ask("certificate-authority"),
    refuse("certificate-authority-data", "put the CA into a file, for --ca-file=PATH"),
    refuse("insecure-skip-tls-verify", kTls).as_toggle(),
    refuse("tls-renegotiation-once", kTls).as_toggle(),
    refuse("tls-renegotiation-freely", kTls).as_toggle(),
    drop("token-cache-dir", kOwnCache),
    drop("token-cache-storage", kOwnCache),
    drop("force-refresh", kOwnCache).as_toggle(),
    drop("force-keyring", kOwnCache).as_toggle(),
    drop("no-keyring", kOwnCache).as_toggle(),
    drop("oidc-use-pkce", kBrowser).as_toggle(),
    drop("oidc-pkce-method", kBrowser),
    drop("listen-address", kBrowser),
    drop("listen-port", kBrowser),
    drop("skip-open-browser", kBrowser).as_toggle(),
    drop("browser-command", kBrowser),
    drop("authentication-timeout-sec", kBrowser),
    drop("local-server-cert", kBrowser),
    drop("local-server-key", kBrowser),
    drop("open-url-after-authentication", kBrowser),
    drop("oidc-redirect-url", kBrowser),
    drop("oidc-redirect-url-hostname", kBrowser),
    drop("oidc-redirect-url-authcode-keyboard", kBrowser),
    drop("username", kBrowser),
    drop("password", kBrowser),
    refuse("token-exchange-resource", kExchange),
    refuse("token-exchange-audience", kExchange),
    refuse("token-exchange-requested-token-type", kExchange),
    refuse("token-exchange-subject-token", kExchange),
    refuse("token-exchange-subject-token-type", kExchange),
    refuse("token-exchange-actor-token", kExchange),
    refuse("token-exchange-actor-token-type", kExchange),
});

constexpr std::array kVariables = std::to_array<Rule>({ask("SSL_CERT_FILE")});

bool has_oidc_flag(const Invocation& invocation) {
  return std::any_of(invocation.args.begin(), invocation.args.end(),
                     [](const std::string& argument) { return argument.starts_with("--oidc-"); });
}

void carry_grant(Migration& migration) {
  const std::string grant = migration.flag("grant-type");
  if (grant == "client-credentials") {
    migration.drop_flag("grant-type", "--flow=client-credentials says it");
    migration.note(
        "a provider that asks for the client's secret needs --client-secret-file=PATH too");
    return;
  }
  const std::string subject =
      grant.empty() ? "no --grant-type" : "--grant-type " + in_quotes(grant);
  migration.refuse(subject,
                   "an interactive login, for which kubelogin is made; a controller needs "
                   "another flow of execcred-oidc-federation");
}

void carry_ca(Migration& migration) {
  const std::vector<std::string> files = migration.flags("certificate-authority");
  if (files.empty()) {
    const std::string bundle = migration.variable("SSL_CERT_FILE");
    if (!bundle.empty()) migration.keep(variable_subject("SSL_CERT_FILE"), "--ca-file", bundle);
    return;
  }
  migration.drop_variable("SSL_CERT_FILE", "--certificate-authority counts");
  if (files.size() > 1) {
    migration.refuse("--certificate-authority",
                     "it is given twice; put all certificates into one file, for --ca-file");
  } else if (files.front().starts_with('~')) {
    migration.refuse("--certificate-authority",
                     "execcred's options do not expand '~'; write the whole path");
  } else {
    migration.keep("--certificate-authority", "--ca-file", files.front());
  }
}

// Some of the parameters are options of execcred-oidc-federation. The others become --param.
void carry_parameters(Migration& migration) {
  constexpr std::string_view kFlag = "--oidc-auth-request-extra-params";
  for (const std::string& parameter : migration.flags("oidc-auth-request-extra-params")) {
    const std::size_t equals = parameter.find('=');
    const std::string name = parameter.substr(0, equals);
    if (equals == std::string::npos) {
      migration.refuse(kFlag, "a parameter is NAME=VALUE");
    } else if (name == "audience" || name == "resource") {
      migration.keep(kFlag, "--" + name, parameter.substr(equals + 1));
    } else {
      migration.keep(kFlag, "--param", parameter);
    }
  }
}

void finish(Migration& migration) {
  carry_grant(migration);
  carry_ca(migration);
  carry_parameters(migration);
  std::vector<std::string> scopes = migration.flags("oidc-extra-scope");
  const bool has_own = !scopes.empty();
  scopes.emplace_back("openid");
  const std::string scope = join(scopes, " ");
  if (has_own) {
    migration.keep("--oidc-extra-scope", "--scope", scope);
  } else {
    migration.add("--scope", scope, "kubelogin always asks for it");
  }
  if (migration.is_on("oidc-use-access-token")) {
    migration.keep("--oidc-use-access-token", "--token", "access_token");
  } else {
    migration.add("--token", "id_token", "kubelogin's default");
  }
  for (const std::string_view flag : {"oidc-issuer-url", "oidc-client-id"}) {
    if (!migration.flag(flag).empty()) continue;
    migration.refuse("--" + std::string(flag), "it is missing");
  }
}

Peer peer(std::string_view name, Words programs, Words subcommand,
          bool (*matches)(const Invocation&) = nullptr) {
  return {.name = name,
          .programs = std::move(programs),
          .subcommand = std::move(subcommand),
          .plugin = "execcred-oidc-federation",
          .first = {"--flow=client-credentials"},
          .flags = kFlags,
          .variables = kVariables,
          .is_good_at_many_servers = true,
          .matches = matches,
          .finish = finish};
}

}  // namespace

std::vector<Peer> oidc_peers() {
  return {peer("kubectl oidc-login get-token", {"kubectl"}, {"oidc-login", "get-token"}),
          peer("kubectl-oidc_login get-token", {"kubectl-oidc_login"}, {"get-token"}),
          peer("int128's kubelogin get-token", {"kubelogin"}, {"get-token"}, has_oidc_flag)};
}

}  // namespace execcred::migrate

// SPDX-License-Identifier: Apache-2.0
// Plugins that read a credential from a Secret: execcred-static-secret knows each one's
// convention by its name.
#include "peers.hpp"

#include <array>

namespace execcred::migrate {
namespace {

// Notes about credentials that the peers gave and execcred-static-secret refuses.
constexpr std::string_view kOtherNamespace =
    "a namespace that a ClusterProfile names must be the own one, or --allow-namespace=NS added";
constexpr std::string_view kOtherServer =
    "a stored kubeconfig is given to its own server alone: where spec.cluster.server is another, "
    "add --allow-server-mismatch=PATTERN";
constexpr std::string_view kOtherAuthority =
    "each CA in spec.cluster.certificate-authority-data must be in the stored kubeconfig; if it "
    "has no CA, add --allow-profile-ca";
constexpr std::string_view kOtherConnection =
    "a stored kubeconfig needs --allow-proxy=PATTERN for a cluster with a proxy-url, and "
    "--allow-insecure for one with insecure-skip-tls-verify";
constexpr std::string_view kOtherUser =
    "a stored kubeconfig is refused where any user has exec, an auth-provider other than oidc, "
    "impersonation, a password or an unknown field";
constexpr std::string_view kTokenAlone =
    "of a user with a token and a certificate the token is given; add --both to give both";
constexpr std::string_view kHubToken =
    "a token of the hub's own ServiceAccounts, or in a Secret of type "
    "kubernetes.io/service-account-token, needs --allow-hub-token";
constexpr std::string_view kShortLived =
    "execcred-bootstrap, with this entry as its --credential, has the cluster exchange the stored "
    "credential for a short-lived one";
constexpr std::string_view kInsecureToken =
    "a token for a cluster with insecure-skip-tls-verify needs --allow-insecure";

constexpr std::array kCpCredsFlags =
    std::to_array<Rule>({keep("managed-serviceaccount", "--managed-serviceaccount")});

constexpr std::array kVariables = std::to_array<Rule>({keep("KUBECONFIG")});

constexpr std::array kCpCredsVariables =
    std::to_array<Rule>({keep("KUBECONFIG"), keep("NAMESPACE", "--namespace")});

// A bare token names no server and no CA, so there is nothing to compare.
void report_tokens(Migration& migration) {
  migration.note(kHubToken);
  migration.note(kInsecureToken);
}

void report_tokens_anywhere(Migration& migration) {
  migration.note(kOtherNamespace);
  report_tokens(migration);
}

void report_kubeconfigs(Migration& migration) {
  for (const std::string_view text :
       {kOtherNamespace, kOtherServer, kOtherAuthority, kOtherConnection, kOtherUser, kTokenAlone,
        kHubToken, kShortLived}) {
    migration.note(text);
  }
}

void finish_cp_creds(Migration& migration) {
  report_tokens(migration);
  if (migration.has("--managed-serviceaccount")) return;
  migration.refuse("--managed-serviceaccount", "it is missing");
}

}  // namespace

std::vector<Peer> secret_peers() {
  return {{.name = "secretreader",
           .programs = {"secretreader", "secretreader-plugin"},
           .plugin = "execcred-static-secret",
           .first = {"--convention=secretreader"},
           .variables = kVariables,
           .needs_cluster = true,
           .finish = report_tokens},
          {.name = "kubeconfig-secretreader",
           .programs = {"kubeconfig-secretreader", "kubeconfig-secretreader-plugin"},
           .plugin = "execcred-static-secret",
           .first = {"--convention=kubeconfig-secretreader"},
           .variables = kVariables,
           .needs_cluster = true,
           .finish = report_kubeconfigs},
          {.name = "token-secretreader",
           .programs = {"token-secretreader", "token-secretreader-plugin"},
           .plugin = "execcred-static-secret",
           .first = {"--convention=token-secretreader"},
           .variables = kVariables,
           .needs_cluster = true,
           .finish = report_tokens_anywhere},
          {.name = "cp-creds",
           .programs = {"cp-creds", "cp-creds-plugin"},
           .plugin = "execcred-static-secret",
           .first = {"--convention=cp-creds"},
           .flags = kCpCredsFlags,
           .variables = kCpCredsVariables,
           .needs_cluster = true,
           .finish = finish_cp_creds}};
}

}  // namespace execcred::migrate

// SPDX-License-Identifier: Apache-2.0
// Plugins that read a credential from a Secret: execcred-static-secret knows each one's
// convention by its name.
#include "peers.hpp"

#include <array>

namespace execcred::migrate {
namespace {

constexpr std::string_view kOtherNamespace =
    "a namespace that a ClusterProfile names must be the own one, or --allow-namespace=NS added";

constexpr std::array kCpCredsFlags =
    std::to_array<Rule>({keep("managed-serviceaccount", "--managed-serviceaccount")});

constexpr std::array kVariables = std::to_array<Rule>({keep("KUBECONFIG")});

constexpr std::array kCpCredsVariables =
    std::to_array<Rule>({keep("KUBECONFIG"), keep("NAMESPACE", "--namespace")});

void finish_cp_creds(Migration& migration) {
  if (migration.has("--managed-serviceaccount")) return;
  migration.refuse("--managed-serviceaccount", "it is missing");
}

void tell_of_namespaces(Migration& migration) { migration.note(kOtherNamespace); }

}  // namespace

std::vector<Peer> secret_peers() {
  return {{.name = "secretreader",
           .programs = {"secretreader", "secretreader-plugin"},
           .plugin = "execcred-static-secret",
           .first = {"--convention=secretreader"},
           .variables = kVariables,
           .needs_cluster = true},
          {.name = "kubeconfig-secretreader",
           .programs = {"kubeconfig-secretreader", "kubeconfig-secretreader-plugin"},
           .plugin = "execcred-static-secret",
           .first = {"--convention=kubeconfig-secretreader"},
           .variables = kVariables,
           .needs_cluster = true,
           .finish = tell_of_namespaces},
          {.name = "token-secretreader",
           .programs = {"token-secretreader", "token-secretreader-plugin"},
           .plugin = "execcred-static-secret",
           .first = {"--convention=token-secretreader"},
           .variables = kVariables,
           .needs_cluster = true,
           .finish = tell_of_namespaces},
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

// SPDX-License-Identifier: Apache-2.0
// argocd-k8s-auth oidc: a token that another program keeps in a file.
#include "peers.hpp"

#include <array>

namespace execcred::migrate {
namespace {

constexpr std::array kFlags = std::to_array<Rule>({
    keep("token-file", "--token-file"),
    drop("verbose", "logging; execcred's plugins have --debug").as_toggle(),
});

constexpr std::array kVariables =
    std::to_array<Rule>({keep("ARGOCD_OIDC_TOKEN_FILE", "--token-file")});

void finish(Migration& migration) {
  if (migration.has("--token-file")) return;
  migration.refuse("--token-file", "neither flags nor env name the file");
}

}  // namespace

std::vector<Peer> token_file_peers() {
  return {{.name = "argocd-k8s-auth oidc",
           .programs = {"argocd-k8s-auth"},
           .subcommand = {"oidc"},
           .plugin = "execcred-token-file",
           .flags = kFlags,
           .variables = kVariables,
           .is_good_at_many_servers = true,
           .finish = finish}};
}

}  // namespace execcred::migrate

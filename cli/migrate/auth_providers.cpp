// SPDX-License-Identifier: Apache-2.0
// users[].user.auth-provider of a kubeconfig: logins inside clients, which came before exec.
#include "peers.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace execcred::migrate {
namespace {

struct Provider {
  std::string_view name;
  std::string_view why;
};

constexpr std::array kProviders = std::to_array<Provider>({
    {"azure",
     "clients no longer have it since Kubernetes 1.26; run 'kubelogin convert-kubeconfig -l "
     "workloadidentity', or '-l msi', and migrate the new file"},
    {"gcp",
     "clients no longer have it since Kubernetes 1.26; run 'gcloud container clusters "
     "get-credentials', which writes gke-gcloud-auth-plugin, and migrate the new file"},
    {"oidc",
     "the login of a person, whose token expires; a controller needs another flow of "
     "execcred-oidc-federation"},
});

}  // namespace

Migration auth_provider(const std::string& name, bool has_exec) {
  static const Peer kPeer{.name = "auth-provider", .programs = {}};
  const auto* const known = std::find_if(kProviders.begin(), kProviders.end(),
                                         [&name](const Provider& p) { return p.name == name; });
  Migration migration(kPeer, {});
  migration.refuse("auth-provider " + in_quotes(name),
                   has_exec                    ? "clients refuse it beside exec; remove it"
                   : known != kProviders.end() ? known->why
                                               : "no client knows it; write exec with a plugin");
  return migration;
}

}  // namespace execcred::migrate

// SPDX-License-Identifier: Apache-2.0
// Programs of other platforms, which no plugin of execcred replaces.
#include "peers.hpp"

#include <utility>

namespace execcred::migrate {
namespace {

Peer unreplaced(std::string_view name, Words programs, Words subcommand, std::string_view why) {
  return {.name = name,
          .programs = std::move(programs),
          .subcommand = std::move(subcommand),
          .never = why,
          .is_wrappable = true};
}

}  // namespace

std::vector<Peer> other_peers() {
  return {unreplaced("doctl exec-credential", {"doctl"},
                     {"kubernetes", "cluster", "kubeconfig", "exec-credential"},
                     "no plugin of execcred asks DigitalOcean's API; keep doctl, or store a "
                     "ServiceAccount's token for execcred-static-secret"),
          unreplaced("oci ce cluster generate-token", {"oci"}, {"ce", "cluster", "generate-token"},
                     "no plugin of execcred signs with Oracle Cloud's keys; keep oci, or store a "
                     "ServiceAccount's token for execcred-static-secret"),
          unreplaced("rancher token", {"rancher"}, {"token"},
                     "no plugin of execcred logs in at Rancher, which needs a person; store a "
                     "ServiceAccount's token for execcred-static-secret"),
          unreplaced("tsh kube credentials", {"tsh"}, {"kube", "credentials"},
                     "no plugin of execcred asks Teleport for a certificate, for which tsh needs "
                     "a person; a controller can use Teleport's tbot"),
          unreplaced("tbot kube credentials", {"tbot"}, {"kube", "credentials"},
                     "no plugin of execcred asks Teleport for a certificate; keep tbot")};
}

}  // namespace execcred::migrate

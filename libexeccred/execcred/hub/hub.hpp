// SPDX-License-Identifier: Apache-2.0
// The inventory of the hub: its ClusterProfiles, read from its Kubernetes API (KEP-4322).
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/kube/cluster_profile.hpp>

#include <chrono>
#include <string>

namespace execcred {

struct HubQuery {
  // The path of a kubeconfig; empty: those of KUBECONFIG, else the Pod's service account. The
  // kubeconfig's user must have a token, a token file or a client certificate: no other program is
  // run.
  std::string kubeconfig = {};
  std::string context = {};         // of the kubeconfig; empty: the current one
  std::string name_space = {};      // empty: all
  std::string label_selector = {};  // as kubectl's -l has it; empty: all
  Duration timeout = std::chrono::minutes(1);
};

// The ClusterProfiles of the hub, in its order, in the newest version that it serves and
// cluster_profile.hpp knows. The identity needs `list` on clusterprofiles.multicluster.x-k8s.io. An
// object that cannot be read is among the problems. Fails (configuration) if no hub is found, no
// version is known, or the selector or the namespace is malformed; (no_credential) if the hub
// refuses the request; (unavailable) if the hub cannot be reached. May be called in a process with
// threads, which must ignore SIGPIPE.
Result<LoadedProfiles> list_cluster_profiles(const HubQuery& query, const Environment& environment);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// Writes one kubeconfig (v1) for many clusters, each of which is reached through its plugin.
//
// A context and its cluster have the name of the ClusterProfile, "namespace/name". Clusters whose
// plugin runs in the same way share one user, which has the name of the provider. The kubeconfig
// contains no secret.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/kube/access.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace execcred {

class KubeconfigWriter {
 public:
  // Fails (configuration) for a second cluster of one name; the kubeconfig is then unchanged.
  Status add(const Access& access);
  std::size_t size() const { return names_.size(); }

  // Returns YAML, and leaves the writer empty. The context of a single cluster is the current one;
  // with more clusters, no context is.
  std::string take_text();

 private:
  std::string user_of(const Access& access);

  std::set<std::string> names_;
  std::map<std::string, std::string> users_;  // the exec config's text → the user's name
  std::set<std::string> user_names_;
  // The three lists as YAML text, which takes less memory than trees for thousands of clusters.
  std::string clusters_;
  std::string contexts_;
  std::string users_text_;
};

}  // namespace execcred

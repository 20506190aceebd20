// SPDX-License-Identifier: Apache-2.0
// ClusterProfile (multicluster.x-k8s.io, KEP-4322): a cluster of the inventory, and the ways to
// reach it that its manager offers.
//
// Whoever may write a ClusterProfile's status chooses all that is in it; nothing here is trusted.
#pragma once

#include <execcred/json.hpp>
#include <execcred/result.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

inline constexpr std::size_t kMaxInventory = 64 * 1024 * 1024;

struct AccessProvider {
  std::string name;
  std::string path;  // "status.accessProviders[0]"
  // A kubeconfig v1 Cluster, not looked into: one that is malformed harms no other.
  json::Value cluster;
};

struct ClusterProfile {
  std::string name_space;  // empty where the document has none
  std::string name;
  // status.accessProviders, then those of the deprecated status.credentialProviders whose name
  // is not among them.
  std::vector<AccessProvider> access_providers;
  bool is_healthy = false;  // its condition ControlPlaneHealthy is True
  // The property cluster.clusterset.k8s.io (KEP-2149): who the cluster is. No credential.
  std::string cluster_id;

  // "namespace/name", or the name alone.
  std::string full_name() const;
};

// Fails (configuration) with the path of the field at fault: a name that is no DNS-1123
// subdomain, a list that holds one provider name twice.
Result<ClusterProfile> parse_cluster_profile(const json::Value& document);

// Gets each ClusterProfile, or why one could not be read; an error of its own ends the reading.
using ReceiveClusterProfile = std::function<Status(Result<ClusterProfile>)>;
Status for_each_cluster_profile(std::string_view text, const ReceiveClusterProfile& receive);

// All ClusterProfiles of a text: YAML or JSON, one or many documents, each a ClusterProfile, a
// List or a ClusterProfileList. Documents of other kinds are passed over. Fails with the first
// that cannot be read.
Result<std::vector<ClusterProfile>> parse_cluster_profiles(std::string_view text);

}  // namespace execcred

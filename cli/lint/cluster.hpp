// SPDX-License-Identifier: Apache-2.0
// Checks a kubeconfig v1 Cluster, which ClusterProfiles and kubeconfigs contain.
#pragma once

#include "findings.hpp"

#include <execcred/json/json_reader.hpp>

namespace execcred::lint {

enum class ClusterOf {
  // Written by the side that offers the cluster. Nothing in it may name a file of the reader.
  cluster_profile,
  // Written by the user of the cluster.
  kubeconfig,
  // The same, in a kubeconfig that runs none of execcred's plugins: the exec extension belongs to
  // other programs.
  kubeconfig_of_others,
};

void check_cluster(const Scope& scope, const json::ObjectReader& cluster, ClusterOf owner);

// Checks the extensions: the one that becomes spec.cluster.config, and those that add arguments and
// variables to the program's.
void check_extensions(const Scope& scope, const json::ObjectReader& cluster, ClusterOf owner);

}  // namespace execcred::lint

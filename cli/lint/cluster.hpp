// SPDX-License-Identifier: Apache-2.0
// A kubeconfig v1 Cluster, in the two documents that hold it.
#pragma once

#include "findings.hpp"

#include <execcred/json/json_reader.hpp>

namespace execcred::lint {

enum class ClusterOf {
  // Written by the one who offers the cluster. Nothing in it may name a file of the reader.
  cluster_profile,
  // Written by the one who uses it.
  kubeconfig,
  // The same, without execcred's plugins: the extension belongs to other programs.
  kubeconfig_of_others,
};

void check_cluster(const Scope& scope, const json::ObjectReader& cluster, ClusterOf owner);

// The extensions: the one that becomes spec.cluster.config, and those that add arguments and
// variables to the program's.
void check_extensions(const Scope& scope, const json::ObjectReader& cluster, ClusterOf owner);

}  // namespace execcred::lint

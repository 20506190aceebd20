// SPDX-License-Identifier: Apache-2.0
// The clusters to examine, from a kubeconfig.
#pragma once

#include "steps.hpp"

#include <execcred/engine/target.hpp>

#include <string>
#include <vector>

namespace execcred::doctor {

struct KubeconfigQuery {
  std::string path = {};
  std::string context = {};  // empty: the current one
  bool all_contexts = false;
};

// Fails (configuration) if the kubeconfig cannot be read or does not have the context.
Result<std::vector<engine::Target>> targets_of_kubeconfig(const KubeconfigQuery& query);

}  // namespace execcred::doctor

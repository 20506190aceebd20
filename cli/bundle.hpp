// SPDX-License-Identifier: Apache-2.0
// execcred doctor --bundle: one archive for a bug report, without secrets.
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/engine/report.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/os/file_write.hpp>

#include <string>
#include <vector>

namespace execcred::cli {

struct BundleInput {
  std::string mapping_path = {};  // empty: a kubeconfig was examined
  std::vector<std::string> profile_paths = {};
  std::vector<ClusterProfile> profiles = {};  // that were examined
  const std::vector<engine::Item>* items = nullptr;
  Environment environment = {};
  Duration limit = {};  // of each run of a plugin
};

// Writes the whole file, with the mode 0600, and lets it take its place. Fails (configuration).
Status write_bundle(NewFile& file, const BundleInput& input);

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// The clusters that a command examines: -m, the options of the source, --name, --provider and
// --allow-empty.
#pragma once

#include "command.hpp"

#include <execcred/engine/target.hpp>

#include <string>
#include <vector>

namespace execcred::cli {

struct TargetOptions {
  std::string mapping_path = {};
  ProfileSource source = {};
  std::string name = {};
  std::string provider = {};
  bool may_be_empty = false;

  void add_to(CommandOptions& options, bool is_mapping_required);
  // Reads the mapping and the ClusterProfiles. A ClusterProfile with a name is a target even if it
  // cannot be used. Adds the problems of other documents and the exit code to `outcome`, and the
  // ClusterProfiles that can be read to `profiles`, unless that is null. Fails (configuration) if
  // the mapping cannot be used or lacks the provider, and as ProfileSource::for_each_document does.
  Result<std::vector<engine::Target>> read(Outcome& outcome,
                                           std::vector<ClusterProfile>* profiles = nullptr) const;
};

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// The options of a command that gets credentials for ClusterProfiles: -m, the options of the
// source, --name, --provider and --allow-empty.
#pragma once

#include "command.hpp"

#include <execcred/engine/target.hpp>

#include <optional>
#include <string>
#include <vector>

namespace execcred::cli {

struct AccessOptions {
  std::string mapping_path = {};
  ProfileSource source = {};
  std::string name = {};
  std::string provider = {};
  bool may_be_empty = false;

  void add_to(CommandOptions& options, bool is_mapping_required = true);

  // Checks the options of the source, and reads the mapping. Fails (configuration) if options
  // exclude each other or the mapping cannot be used.
  Result<ProviderMapping> mapping() const;
  // The same for a command that does what it can: a problem of an entry is one of the
  // ClusterProfiles that choose the entry. Fails (configuration) also if the mapping lacks
  // --provider.
  Result<engine::Mapping> mapping_with_problems() const;

  // Whether --name is a list of names.
  bool has_several_names() const;
  // Passes the ClusterProfiles to `receive`, in the source's order. With --name, passes only those
  // with one of its names; a name that matches none is a problem, unless --allow-empty is given.
  // Adds the problems of unusable documents and the exit code to `outcome`. Fails as
  // ProfileSource::for_each does.
  Status for_each_profile(const ReceiveProfile& receive, Outcome& outcome) const;
  // The same for a command that takes one ClusterProfile. Returns nullopt if none was found;
  // `outcome` is then complete. Fails (configuration) with their names if there are several.
  Result<std::optional<ClusterProfile>> one_profile(Outcome& outcome) const;

  // Reads the mapping and the ClusterProfiles for a command that examines clusters. --name is one
  // name. A ClusterProfile with a name is a target even if it cannot be used. Adds the problems of
  // other documents and the exit code to `outcome`, and the ClusterProfiles that can be read to
  // `profiles`, unless that is null. Fails (configuration) if the mapping cannot be used or lacks
  // the provider, and as ProfileSource::for_each_document does.
  Result<std::vector<engine::Target>> targets(
      Outcome& outcome, std::vector<ClusterProfile>* profiles = nullptr) const;
};

}  // namespace execcred::cli

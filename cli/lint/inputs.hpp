// SPDX-License-Identifier: Apache-2.0
// Checks fields and arguments of ClusterProfiles with the options of the plugin that the mapping
// runs: the part of choices.hpp that the plugin's option table decides.
#pragma once

#include "findings.hpp"
#include "options.hpp"

#include <execcred/json/json_reader.hpp>

#include <map>
#include <optional>
#include <string>

namespace execcred::lint {

// Records the extensions in the cluster of a ClusterProfile's provider, for check_inputs().
void note_input(const Scope& scope, const std::string& provider, const json::ObjectReader& cluster);

// The programs for the provider in the mappings of the group. If these have none, those in the
// mappings that were named. nullptr if these have none either.
const MappedPlugins* mapped_for(const Run& run, const std::string& group,
                                const std::string& provider);

// An entry of a mapping as its plugin reads it.
struct PluginReading {
  explicit PluginReading(const ExecConfig& exec);

  DeclaredOptions options;
  Settings settings;
  bool is_read = false;  // whether the plugin accepts the whole entry
  ExecSettings given;    // as far as it can be read
};

// Reads each entry once for all ClusterProfiles, but for one with Argo CD's placeholders: that is
// another entry for each of them.
class PluginReadings {
 public:
  // As Argo CD would run it for that ClusterProfile. The result is good until the next call.
  PluginReading& of(const MappedPlugin& plugin, const ProfileInput& input);

 private:
  std::map<const MappedPlugin*, PluginReading> unfilled_;
  std::optional<PluginReading> filled_;
};

// Called after all documents were checked. If no mapping has the provider, only values that every
// plugin refuses are reported.
void check_inputs(Run& run, PluginReadings& readings);

}  // namespace execcred::lint

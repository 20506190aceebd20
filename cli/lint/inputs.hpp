// SPDX-License-Identifier: Apache-2.0
// Checks fields and arguments of ClusterProfiles with the options of the plugin that the mapping
// runs: the part of choices.hpp that the plugin's option table decides.
#pragma once

#include "findings.hpp"

#include <execcred/json/json_reader.hpp>

#include <string>
#include <vector>

namespace execcred::lint {

// The extensions of the cluster of a ClusterProfile's provider.
void note_input(const Scope& scope, const std::string& provider, const json::ObjectReader& cluster);

// Those that the mappings of the group have for the provider, else the mappings that were named.
std::vector<const MappedPlugin*> plugins_for(const Run& run, const std::string& group,
                                             const std::string& provider);

// The program as it runs for that ClusterProfile, if Argo CD runs it.
ExecConfig exec_for(const MappedPlugin& plugin, const ProfileInput& input);

// If no mapping names the plugin, only values that all plugins refuse are reported.
void check_inputs(Run& run);

}  // namespace execcred::lint

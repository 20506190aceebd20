// SPDX-License-Identifier: Apache-2.0
// Checks fields and arguments of ClusterProfiles with the options of the plugin that the mapping
// runs: the part of choices.hpp that the plugin's option table decides.
#pragma once

#include "findings.hpp"

#include <execcred/json/json_reader.hpp>

#include <string>
#include <vector>

namespace execcred::lint {

// Records the extensions in the cluster of a ClusterProfile's provider, for check_inputs().
void note_input(const Scope& scope, const std::string& provider, const json::ObjectReader& cluster);

// The programs for the provider in the mappings of the group. If these have none, those in the
// mappings that were named.
std::vector<const MappedPlugin*> plugins_for(const Run& run, const std::string& group,
                                             const std::string& provider);

// The program as Argo CD would run it for that ClusterProfile, with its placeholders replaced.
ExecConfig exec_for(const MappedPlugin& plugin, const ProfileInput& input);

// Called after all documents were checked. If no mapping has the provider, only values that every
// plugin refuses are reported.
void check_inputs(Run& run);

}  // namespace execcred::lint

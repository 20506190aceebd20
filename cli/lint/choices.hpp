// SPDX-License-Identifier: Apache-2.0
// Checks the values in ClusterProfiles that a mapping must allow: whether the plugin that the
// mapping runs would accept them.
//
// Documents of one group belong together (Scope). If no mapping of the ClusterProfile's group has
// the provider, the mappings among the files that were named are used. If several mappings have the
// provider, one that accepts the value is enough.
#pragma once

#include "findings.hpp"

#include <string>

namespace execcred::lint {

// Records a mapping's program for this provider. `path` is the place of the entry in the document.
// `appends`: the entry appends the arguments of a ClusterProfile.
void note_plugin(const Scope& scope, const std::string& provider, const std::string& path,
                 const ExecConfig& exec, bool appends = false);

// Called after all documents were checked. A refused value is an error if only the mapping decides,
// and a warning if a variable of the plugin's process may still allow it.
void check_choices(Run& run);

}  // namespace execcred::lint

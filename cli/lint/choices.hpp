// SPDX-License-Identifier: Apache-2.0
// Checks the choices of ClusterProfiles that a mapping must allow: whether the plugin that the
// mapping runs would accept them.
//
// Documents of one group belong together (Scope); a provider that no mapping of the same group has
// is searched in the files that were named. If several mappings have the provider, one that accepts
// the choice is enough.
#pragma once

#include "findings.hpp"

#include <string>

namespace execcred::lint {

// The program for this provider; `path` is where the document has it.
void note_plugin(const Scope& scope, const std::string& provider, const std::string& path,
                 const ExecConfig& exec, bool appends = false);

// Called after all documents. An error if only the mapping decides; a warning if a variable of the
// plugin's process may still allow it.
void check_choices(Run& run);

}  // namespace execcred::lint

// SPDX-License-Identifier: Apache-2.0
// What ClusterProfiles choose of the plugins that mappings run for them, where the mapping must
// have allowed it: whether the plugin would take it.
//
// Documents of one group belong together (Scope); what a mapping of the same group does not map is
// looked for among the files that were named. Where several mappings have the provider, one that
// takes the choice is enough.
#pragma once

#include "lint_findings.hpp"

#include <string>

namespace execcred::lint {

// The program for this provider; `path` is where the document has it.
void note_plugin(const Scope& scope, const std::string& provider, const std::string& path,
                 const ExecConfig& exec, bool appends = false);

// Once every document was looked at. An error where the mapping alone decides; a warning where a
// variable of the plugin's process may still make it good.
void check_choices(Run& run);

}  // namespace execcred::lint

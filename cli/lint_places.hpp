// SPDX-License-Identifier: Apache-2.0
// The line and column of findings.
#pragma once

#include "lint_findings.hpp"

#include <cstddef>
#include <string_view>

namespace execcred::lint {

// How far a run was before a text was checked.
struct Mark {
  std::size_t findings = 0;
  std::size_t inputs = 0;
  std::size_t providers = 0;
};
Mark mark_of(const Run& run);

// Gives what was found since the mark its place in the text, whose file the scope is: that of its
// field, or of the nearest that is there around it. `documents`: how many the text holds. Remembers
// the places of what a ClusterProfile gives its plugins, which is judged when all files are read.
void place_findings(const Scope& scope, std::string_view text, std::size_t documents,
                    const Mark& before);
// Those that came after their file was read.
void place_late_findings(Run& run);

}  // namespace execcred::lint

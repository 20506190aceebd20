// SPDX-License-Identifier: Apache-2.0
// Line and column of findings.
#pragma once

#include "findings.hpp"

#include <cstddef>
#include <string_view>

namespace execcred::lint {

// The sizes of a run's lists before a text was checked.
struct Mark {
  std::size_t findings = 0;
  std::size_t inputs = 0;
  std::size_t providers = 0;
};
Mark mark_of(const Run& run);

// Adds positions to the findings since the mark: that of the field, or of its nearest existing
// parent. `text` is the content of the scope's file, and `documents` the number of documents in it.
// Also stores the positions of values that a ClusterProfile passes to plugins, which are checked
// after all files are read.
void place_findings(const Scope& scope, std::string_view text, std::size_t documents,
                    const Mark& before);
// Adds positions to the findings that were added after their file was read.
void place_late_findings(Run& run);

}  // namespace execcred::lint

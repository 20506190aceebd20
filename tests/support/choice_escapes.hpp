// SPDX-License-Identifier: Apache-2.0
// Attempts of a ClusterProfile's writer to choose another identity than the mapping's patterns
// allow.
#pragma once

#include "plugin_rig.hpp"

#include <string>
#include <vector>

namespace execcred::test {

struct ChoiceEscape {
  std::string json = {};      // of spec.cluster.config
  std::string argument = {};  // behind the boundary; empty: it has no such form
};

// Of the identity `good`, to which the patterns "good" and "prefix*" lead, and of `others`: what
// each plugin adds.
std::vector<ChoiceEscape> choice_escapes(const std::string& good, const std::string& prefix,
                                         const Texts& others);

// Why the outcome is no refusal (exit code 1 or 2) that names the field or flag; "" if it is.
std::string problem_of_escape(const Outcome& outcome, const std::string& name);

}  // namespace execcred::test

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
  std::string argument = {};  // behind the boundary; empty: not possible as an argument
};

// Attempts made from the identity `good`, which the patterns "good" and "prefix*" allow, and from
// `others`, which each plugin adds.
std::vector<ChoiceEscape> choice_escapes(const std::string& good, const std::string& prefix,
                                         const Texts& others);

// Empty if the outcome is a refusal (exit code 1 or 2) that names the field or flag, else why not.
std::string problem_of_escape(const Outcome& outcome, const std::string& name);

}  // namespace execcred::test

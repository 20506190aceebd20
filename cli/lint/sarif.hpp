// SPDX-License-Identifier: Apache-2.0
// Findings in SARIF 2.1.0 (OASIS), for code hosts and editors.
#pragma once

#include "findings.hpp"

#include <vector>

namespace execcred::lint {

// One run with the rules of rules.hpp. A finding of the hub has the object's name instead of a
// file.
json::Value to_sarif(const std::vector<Finding>& findings);

}  // namespace execcred::lint

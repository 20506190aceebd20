// SPDX-License-Identifier: Apache-2.0
// A configuration for each source of credentials of each plugin that plans something.
#pragma once

#include "plan_rig.hpp"

#include <vector>

namespace execcred::test {

std::vector<PlanCase> plan_cases();

}  // namespace execcred::test

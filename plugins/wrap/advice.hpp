// SPDX-License-Identifier: Apache-2.0
// What lint says about a configuration of execcred-wrap.
#pragma once

#include "options.hpp"

#include <execcred/exec/provider.hpp>

#include <vector>

namespace execcred::wrap {

void advise(const Options& options, const Settings& settings, std::vector<Finding>& findings);

}  // namespace execcred::wrap

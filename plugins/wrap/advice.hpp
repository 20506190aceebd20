// SPDX-License-Identifier: Apache-2.0
// What lint says about a configuration of execcred-wrap.
#pragma once

#include <execcred/exec/provider.hpp>

#include <vector>

namespace execcred::wrap {

std::vector<Advice> advise(const GivenOptions& given);

}  // namespace execcred::wrap

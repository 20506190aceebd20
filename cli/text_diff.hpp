// SPDX-License-Identifier: Apache-2.0
// The unified difference of two texts.
#pragma once

#include <string>
#include <string_view>

namespace execcred::cli {

// The difference has three lines of context around each change. It is empty if the texts are equal.
// If more than a thousand lines are removed or added in total, everything from the first to the
// last difference is shown as removed and added, so that the time stays linear.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view name_before, std::string_view name_after);

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// The unified difference of two texts.
#pragma once

#include <string>
#include <string_view>

namespace execcred::cli {

// With three lines around each change; empty where the texts are equal. If more than a thousand
// lines differ in one place, that place is shown as completely removed and added, so that the time
// stays linear.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view name_before, std::string_view name_after);

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// The difference of two texts, as diff -u shows it.
#pragma once

#include <string>
#include <string_view>

namespace execcred::cli {

// With three lines around each change; empty where the texts are equal. Where more than a thousand
// lines differ in one place, that place is shown as removed and added whole, so that the time stays
// linear.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view name_before, std::string_view name_after);

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// Suggestions for mistyped words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// The shortest of the words that are nearest: one that begins with `typed`, or differs in no more
// than a third of its letters, an exchange of two neighbours counting once. Empty where none is
// near.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& words);

}  // namespace execcred::cli

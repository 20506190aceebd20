// SPDX-License-Identifier: Apache-2.0
// Suggestions for mistyped words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// The word that is most similar to `typed`; of several, the shortest. Similar is a word that begins
// with `typed`, if that has three characters or more, or that differs from it in at most a third of
// its characters, and at least one. An exchange of two neighbours is one difference. Empty if no
// word is similar, or if `typed` has fewer than 2 or more than 64 characters.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& words);

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// Suggestions for mistyped words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// The word that is most similar to `typed`; of several, the shortest. Similar is a word that begins
// with `typed`, if that has three characters or more, or that differs from it in at most a third of
// its characters, and at least one. An exchange of two neighbours is one difference. Empty if no
// word is similar, or if `typed` has fewer than 2 or more than 64 characters.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& words);

// The word from which `typed` differs in one letter, or in an exchange of two; empty if there is
// none.
std::string misspelled_word(std::string_view typed, const std::vector<std::string>& words);

// The `most` words that are nearest to `typed`, the nearest first, however far they are. Empty if
// `typed` has more than 64 characters.
std::vector<std::string> nearest_words(std::string_view typed, std::vector<std::string> words,
                                       std::size_t most);

}  // namespace execcred::cli

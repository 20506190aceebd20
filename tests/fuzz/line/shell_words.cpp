// SPDX-License-Identifier: Apache-2.0
// Splitting a command line into words.
#include "fuzz.hpp"
#include "line.hpp"

#include <execcred/base/shell_words.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::fuzz {

// If each word is quoted, the words are the same; and no text is added to them.
void check_shell_words(std::string_view input) {
  const Result<std::vector<std::string>> words = split_shell_words(input);
  if (!words) {
    require(words.error().kind == Error::Kind::configuration, "the text is at fault");
    return;
  }
  std::string line;
  std::size_t size = 0;
  for (const std::string& word : *words) {
    line += " '";
    for (const char c : word) line += c == '\'' ? "'\\''" : std::string(1, c);
    line += "'";
    size += word.size();
  }
  require(size <= input.size(), "nothing is added");
  const Result<std::vector<std::string>> again = split_shell_words(line);
  require(again && *again == *words, "the same words");
}

}  // namespace execcred::fuzz

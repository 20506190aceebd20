// SPDX-License-Identifier: Apache-2.0
#include "suggestion.hpp"

#include <algorithm>
#include <cstddef>

namespace execcred::cli {
namespace {

constexpr std::size_t kLongest = 64;

// The number of letters to insert, remove, replace or exchange with a neighbour (optimal string
// alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, replaced});
      const bool is_exchange = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_exchange) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_word(std::string_view typed, const std::vector<std::string>& words) {
  std::string nearest;
  if (typed.size() < 2 || typed.size() > kLongest) return nearest;
  std::size_t least = kLongest;
  for (const std::string& word : words) {
    const bool is_prefix = typed.size() > 2 && word.starts_with(typed);
    const std::size_t far = is_prefix ? 1 : distance(typed, word);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(typed.size(), word.size()) / 3);
    const bool is_nearer = far < least || (far == least && word.size() < nearest.size());
    if (far > allowed || !is_nearer) continue;
    least = far;
    nearest = word;
  }
  return nearest;
}

std::string misspelled_word(std::string_view typed, const std::vector<std::string>& words) {
  if (typed.size() > kLongest) return {};
  for (const std::string& word : words) {
    if (distance(typed, word) == 1) return word;
  }
  return {};
}

std::vector<std::string> nearest_words(std::string_view typed, std::vector<std::string> words,
                                       std::size_t most) {
  if (typed.size() > kLongest) return {};
  std::stable_sort(words.begin(), words.end(), [typed](const std::string& a, const std::string& b) {
    return distance(typed, a) < distance(typed, b);
  });
  words.resize(std::min(words.size(), most));
  return words;
}

}  // namespace execcred::cli

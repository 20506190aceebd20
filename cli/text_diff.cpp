// SPDX-License-Identifier: Apache-2.0
#include "text_diff.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace execcred::cli {
namespace {

using Lines = std::vector<std::string_view>;

constexpr int kMostEdits = 1000;
constexpr std::size_t kContext = 3;

Lines lines_of(std::string_view text) {
  Lines lines;
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (!text.empty()) lines = split(text, '\n');
  return lines;
}

struct Edit {
  char mark = ' ';  // or '-' or '+'
  std::string_view line = {};
};

void add_all(char mark, const Lines& lines, std::vector<Edit>& edits) {
  for (const std::string_view line : lines) edits.push_back({.mark = mark, .line = line});
}

// E. W. Myers, An O(ND) Difference Algorithm and Its Variations, 1986. Stores the point that is
// reached on each diagonal x - y, for each number of edits.
class Myers {
 public:
  Myers(const Lines& before, const Lines& after)
      : before_(before),
        after_(after),
        n_(static_cast<int>(before.size())),
        m_(static_cast<int>(after.size())) {}

  // Returns false if more edits are needed than the limit.
  bool find() {
    std::vector<int> reached(static_cast<std::size_t>(2 * kMostEdits + 3), 0);
    for (int d = 0; d <= kMostEdits; ++d) {
      for (int k = -d; k <= d; k += 2) {
        const int below = at(reached, k + 1);
        const int beside = at(reached, k - 1) + 1;
        int x = k == -d || (k != d && beside <= below) ? below : beside;
        while (x < n_ && x - k >= 0 && x - k < m_ && is_same(x, x - k)) ++x;
        at(reached, k) = x;
        if (x < n_ || x - k < m_) continue;
        trace_.push_back(reached);
        return true;
      }
      trace_.emplace_back(reached.begin() + kMostEdits + 1 - d - 1,
                          reached.begin() + kMostEdits + 1 + d + 2);
    }
    return false;
  }

  std::vector<Edit> edits() {
    std::vector<Edit> reversed;
    int x = n_;
    int y = m_;
    for (int d = static_cast<int>(trace_.size()) - 1; d > 0; --d) {
      const std::vector<int>& reached = trace_[static_cast<std::size_t>(d - 1)];
      // `reached` has the diagonals -d to d, after d - 1 edits.
      const auto of = [&reached, d](int k) {
        const int index = k + d;
        return reached[static_cast<std::size_t>(index)];
      };
      const int k = x - y;
      const bool is_added = k == -d || (k != d && of(k - 1) + 1 <= of(k + 1));
      const int from_x = is_added ? of(k + 1) : of(k - 1);
      const int from_y = from_x - (is_added ? k + 1 : k - 1);
      const int same_from = is_added ? from_x : from_x + 1;
      for (; x > same_from; --x, --y) reversed.push_back({.line = line(before_, x - 1)});
      if (is_added) {
        reversed.push_back({.mark = '+', .line = line(after_, from_y)});
      } else {
        reversed.push_back({.mark = '-', .line = line(before_, from_x)});
      }
      x = from_x;
      y = from_y;
    }
    for (; x > 0; --x) reversed.push_back({.line = line(before_, x - 1)});
    return {reversed.rbegin(), reversed.rend()};
  }

 private:
  static int& at(std::vector<int>& reached, int k) {
    const int index = k + kMostEdits + 1;
    return reached[static_cast<std::size_t>(index)];
  }
  static std::string_view line(const Lines& lines, int index) {
    return lines[static_cast<std::size_t>(index)];
  }
  bool is_same(int x, int y) const { return line(before_, x) == line(after_, y); }

  const Lines& before_;
  const Lines& after_;
  int n_;
  int m_;
  std::vector<std::vector<int>> trace_;
};

std::vector<Edit> edits_between(const Lines& before, const Lines& after) {
  const auto [end_before, end_after] =
      std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  const auto [last_before, last_after] =
      std::mismatch(before.rbegin(), std::make_reverse_iterator(end_before), after.rbegin(),
                    std::make_reverse_iterator(end_after));
  const Lines old_middle(end_before, last_before.base());
  const Lines new_middle(end_after, last_after.base());
  std::vector<Edit> edits;
  add_all(' ', {before.begin(), end_before}, edits);
  Myers myers(old_middle, new_middle);
  if (myers.find()) {
    const std::vector<Edit> found = myers.edits();
    edits.insert(edits.end(), found.begin(), found.end());
  } else {
    add_all('-', old_middle, edits);
    add_all('+', new_middle, edits);
  }
  add_all(' ', {last_before.base(), before.end()}, edits);
  return edits;
}

// The lines of a hunk: "3,7", or "0,0" of a text without lines.
std::string range(std::size_t first, std::size_t count) {
  return std::to_string(count == 0 ? first : first + 1) + "," + std::to_string(count);
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view name_before, std::string_view name_after) {
  if (before == after) return {};
  const std::vector<Edit> edits = edits_between(lines_of(before), lines_of(after));
  std::string text = "--- " + std::string(name_before) + "\n+++ " + std::string(name_after) + "\n";
  std::size_t old_line = 0;
  std::size_t new_line = 0;
  for (std::size_t i = 0; i < edits.size();) {
    // A hunk begins with the context before the next change, and ends where no change is near.
    std::size_t change = i;
    while (change < edits.size() && edits[change].mark == ' ') ++change;
    if (change == edits.size()) break;
    const std::size_t first = std::max(i, change - std::min(change, kContext));
    old_line += first - i;
    new_line += first - i;
    std::size_t last = change;
    for (std::size_t j = change; j < edits.size() && j <= last + 2 * kContext; ++j) {
      if (edits[j].mark != ' ') last = j;
    }
    const std::size_t end = std::min(last + 1 + kContext, edits.size());
    std::string lines;
    std::size_t old_count = 0;
    std::size_t new_count = 0;
    for (i = first; i < end; ++i) {
      lines.append(1, edits[i].mark).append(edits[i].line).append("\n");
      old_count += edits[i].mark == '+' ? 0U : 1U;
      new_count += edits[i].mark == '-' ? 0U : 1U;
    }
    text +=
        "@@ -" + range(old_line, old_count) + " +" + range(new_line, new_count) + " @@\n" + lines;
    old_line += old_count;
    new_line += new_count;
  }
  return text;
}

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
#include "support/seed.hpp"

#include <execcred/base/text.hpp>
#include <text_diff.hpp>

#include <doctest/doctest.h>

#include <charconv>
#include <random>
#include <string>
#include <vector>

namespace execcred::cli {
namespace {

// The text after the difference is applied, as `patch` does it.
std::string patched(const std::string& before, const std::string& diff) {
  std::vector<std::string_view> old = split(before, '\n');
  if (before.empty() || before.ends_with('\n')) old.pop_back();
  std::string after;
  std::size_t next = 0;
  std::size_t left = 0;
  for (const std::string_view line : split(diff, '\n')) {
    if (line.starts_with("@@ -")) {
      std::size_t first = 0;
      std::from_chars(line.data() + 4, line.data() + line.size(), first);
      const std::size_t start = line.find(",0 +") == std::string_view::npos ? first - 1 : first;
      for (; next < start; ++next) after.append(old.at(next)).append("\n");
      left = 1;
    } else if (left > 0 && !line.empty()) {
      if (line[0] != '+') CHECK(old.at(next++) == line.substr(1));
      if (line[0] != '-') after.append(line.substr(1)).append("\n");
    }
  }
  for (; next < old.size(); ++next) after.append(old[next]).append("\n");
  return after;
}

std::string lines(std::mt19937& random, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += std::string(1, "abcd"[random() % 4]) + "\n";
  return text;
}

}  // namespace

TEST_CASE("unified_diff: writes the format of diff -u") {
  CHECK(unified_diff("a\n", "a\n", "x", "y").empty());
  CHECK(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "x", "y") ==
        "--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  CHECK(unified_diff("", "a\n", "x", "y") == "--- x\n+++ y\n@@ -0,0 +1,1 @@\n+a\n");
  CHECK(unified_diff("a\n", "", "x", "y") == "--- x\n+++ y\n@@ -1,1 +0,0 @@\n-a\n");
}

TEST_CASE("unified_diff: applying the difference to the old text gives the new text") {
  std::mt19937 random(test::seed());
  for (int i = 0; i < 500; ++i) {
    const std::string before = lines(random, random() % 30);
    const std::string after = lines(random, random() % 30);
    CHECK(patched(before, unified_diff(before, after, "x", "y")) == after);
  }
  // More edits than the limit.
  std::string before;
  std::string after;
  for (int i = 0; i < 3000; ++i) before += "b" + std::to_string(i) + "\n";
  for (int i = 0; i < 3000; ++i) after += "a" + std::to_string(i) + "\n";
  CHECK(patched(before, unified_diff(before, after, "x", "y")) == after);
}

}  // namespace execcred::cli

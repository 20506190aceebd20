// SPDX-License-Identifier: Apache-2.0
// Errors as they are shown: for any content, the text is short, valid UTF-8, and one line for each
// part. The input is message|hint|context|context…; a digit before a part repeats the part.
#include "fuzz.hpp"

#include <execcred/base/error.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

constexpr std::string_view kProgram = "execcred-x";

std::string lengthened(std::string_view part) {
  if (part.empty() || part.front() < '0' || part.front() > '9') return std::string(part);
  constexpr std::size_t kLongest = 2'000;
  const unsigned times = 1U << static_cast<unsigned>(part.front() - '0');
  std::string text;
  for (unsigned i = 0; i < times && text.size() < kLongest; ++i) text += part.substr(1);
  return text;
}

// nlohmann/json refuses to write a text that is not UTF-8.
bool is_utf8(const std::string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
  });
}

void check_shown(const std::string& shown, const Error& error) {
  require(shown.size() < 4096, "shorter than 4 KiB");
  require(is_utf8(shown), "whole UTF-8");
  require(!has_control(shown), "no control bytes but newlines");
  for (const std::string_view hidden : {"\u0085", "\u009b", "\u200f", "\u2028", "\u202e"}) {
    require(shown.find(hidden) == std::string::npos, "nothing that a terminal would obey");
  }
  require(shown.ends_with('\n'), "whole lines");
  std::vector<std::string_view> lines = split(shown, '\n');
  lines.pop_back();
  require(lines.front().starts_with("execcred-x: error: "), "the error comes first");
  if (!error.hint.empty()) {
    require(lines.size() > 1 && lines.back().starts_with("  hint: "), "the hint comes last");
    lines.pop_back();
  }
  require(lines.size() <= 1 + error.context.size(), "one line for each part");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    require(lines[i].starts_with("  while "), "the context stands between");
  }
}

}  // namespace

void check(std::string_view input) {
  Error error;
  std::vector<std::string_view> given = split(input, '|');
  error.message = lengthened(given[0]);
  if (given.size() > 1) error.hint = lengthened(given[1]);
  constexpr std::size_t kMostParts = 100;
  for (std::size_t i = 2; i < std::min(given.size(), kMostParts); ++i) {
    error.context.push_back(lengthened(given[i]));
  }
  check_shown(format_error(kProgram, error), error);

  const std::string safe = printable(input);
  require(printable(safe) == safe, "what is printable stays as it is");
  require(is_utf8(safe) && !has_control(safe), "printable is one line of UTF-8");
  const std::string quoted = in_quotes(input);
  require(quoted.size() <= 4 * 120 + 5, "a quotation is bounded");
  require(input.size() > 120 || quoted == "'" + safe + "'", "and whole where it is short");
}

}  // namespace execcred::fuzz

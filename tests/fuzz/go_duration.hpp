// SPDX-License-Identifier: Apache-2.0
// The steps of Go's time.ParseDuration, to compare with execcred's parser.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace execcred::fuzz {

inline constexpr std::uint64_t kTwoTo63 = std::uint64_t{1} << 63U;

inline bool is_go_digit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

inline bool leading_int(std::string_view& text, std::uint64_t& value) {
  for (; is_go_digit(text); text.remove_prefix(1)) {
    if (value > kTwoTo63 / 10) return false;
    value = value * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (value > kTwoTo63) return false;
  }
  return true;
}

inline void leading_fraction(std::string_view& text, std::uint64_t& value, double& scale) {
  bool is_full = false;
  for (; is_go_digit(text); text.remove_prefix(1)) {
    if (is_full || value > (kTwoTo63 - 1) / 10) {
      is_full = true;
      continue;
    }
    const std::uint64_t next = value * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (next > kTwoTo63) {
      is_full = true;
      continue;
    }
    value = next;
    scale *= 10;
  }
}

inline std::optional<std::uint64_t> go_unit(std::string_view& text) {
  static const std::map<std::string_view, std::uint64_t> units = {
      {"ns", 1},         {"us", 1'000},        {"\u00b5s", 1'000},    {"\u03bcs", 1'000},
      {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};
  const std::string_view name = text.substr(0, text.find_first_of(".0123456789"));
  text.remove_prefix(name.size());
  const auto found = units.find(name);
  return found == units.end() ? std::nullopt : std::optional(found->second);
}

inline std::optional<std::int64_t> go_parse_duration(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::uint64_t total = 0;
  while (!text.empty()) {
    std::uint64_t value = 0;
    std::uint64_t fraction = 0;
    double scale = 1;
    const bool has_whole = is_go_digit(text);
    if (!leading_int(text, value)) return std::nullopt;
    bool has_fraction = false;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      has_fraction = is_go_digit(text);
      leading_fraction(text, fraction, scale);
    }
    if (!has_whole && !has_fraction) return std::nullopt;
    const std::optional<std::uint64_t> unit = go_unit(text);
    if (!unit || value > kTwoTo63 / *unit) return std::nullopt;
    value *= *unit;
    value += static_cast<std::uint64_t>(static_cast<double>(fraction) *
                                        (static_cast<double>(*unit) / scale));
    if (value > kTwoTo63) return std::nullopt;
    // Go lets twice 1<<63 wrap around to 0. This is the only difference from Go.
    if (total > kTwoTo63 - value) return std::nullopt;
    total += value;
  }
  if (is_negative) return static_cast<std::int64_t>(-total);
  return total == kTwoTo63 ? std::nullopt : std::optional(static_cast<std::int64_t>(total));
}

}  // namespace execcred::fuzz

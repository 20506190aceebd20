// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace bench {

// The number at the start of text, after any spaces; rest becomes what follows it.
template <typename Number>
std::optional<Number> take_number(std::string_view text, std::string_view& rest) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  rest = text.substr(static_cast<size_t>(end - text.data()));
  return number;
}

template <typename Number>
std::optional<Number> leading_number(std::string_view text) {
  std::string_view rest;
  return take_number<Number>(text, rest);
}

}  // namespace bench

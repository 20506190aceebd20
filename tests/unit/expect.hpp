// SPDX-License-Identifier: Apache-2.0
// Checks of a Result that should hold an error.
#pragma once

#include <doctest/doctest.h>
#include <execcred/base/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Message, context and hint, as one text to search in.
inline std::string full_text(const Error& error) {
  std::string text = error.message;
  for (const std::string& doing : error.context) text += "\nwhile " + doing;
  return text + "\nhint: " + error.hint;
}

template <class T>
void check_fails(const Result<T>& result, Error::Kind kind, std::string_view part) {
  CAPTURE(part);
  CHECK_FALSE(part.empty());
  REQUIRE_FALSE(result.has_value());
  const std::string told = full_text(result.error());
  CAPTURE(told);
  CHECK(result.error().kind == kind);
  CHECK(contains(told, part));
}

// Texts that are refused with one message.
struct Refusals {
  std::string_view told;
  std::vector<std::string> texts;
};

}  // namespace execcred::test

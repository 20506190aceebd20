// SPDX-License-Identifier: Apache-2.0
// Puts every byte value at every position of short texts, and compares with a simple loop.
#include <execcred/base/text.hpp>
#include <execcred/cache/key.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace execcred;

namespace {

bool is_plain_json(char c) {
  const auto value = static_cast<unsigned char>(c);
  return value >= 0x20 && value < 0x80 && c != '"' && c != '\\';
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

template <class Check>
void for_each_place(Check check) {
  for (int value = 0; value < 256; ++value) {
    for (std::size_t size = 1; size < 20; ++size) {
      for (std::size_t place = 0; place < size; ++place) {
        std::string text(size, 'x');
        text[place] = static_cast<char>(value);
        CAPTURE(value);
        CAPTURE(size);
        CAPTURE(place);
        check(text);
      }
    }
  }
}

std::size_t length_of(const std::string& text, bool (*is_plain)(char)) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) -
                                  text.begin());
}

TEST_CASE("plain_json_length ends at the first byte that JSON must escape or that is not ASCII") {
  for_each_place([](const std::string& text) {
    REQUIRE(plain_json_length(text) == length_of(text, is_plain_json));
  });
}

TEST_CASE("ascii_length ends at the first byte that is not ASCII") {
  for_each_place([](const std::string& text) {
    REQUIRE(ascii_length(text) ==
            length_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  });
}

TEST_CASE("has_control_character and is_visible_ascii check every byte of a text") {
  for_each_place([](const std::string& text) {
    REQUIRE(has_control_character(text) == std::any_of(text.begin(), text.end(), is_control));
    REQUIRE(is_visible_ascii(text) ==
            std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; }));
  });
}

TEST_CASE(
    "a cache key's values hold no line break, no other control character and no percent sign" *
    doctest::description("promise 20")) {
  for_each_place([](const std::string& text) {
    const std::string line = CacheKey().add("name", text).text();
    const std::string value = line.substr(line.find("name=") + 5);
    const char c = *std::find_if(text.begin(), text.end(), [](char other) { return other != 'x'; });
    const bool is_plain =
        text.find_first_not_of('x') == std::string::npos || (!is_control(c) && c != '%');
    REQUIRE((value == text) == is_plain);
    REQUIRE(value.size() == text.size() + (is_plain ? 0 : 2));
  });
}

}  // namespace

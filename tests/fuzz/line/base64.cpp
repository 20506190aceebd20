// SPDX-License-Identifier: Apache-2.0
// Base64: any bytes are decoded to themselves, and only one text is accepted for them.
#include "fuzz.hpp"
#include "line.hpp"

#include <execcred/base/encoding.hpp>

#include <optional>
#include <string>

namespace execcred::fuzz {
namespace {

std::string without(std::string_view text, std::string_view unwanted) {
  std::string kept;
  for (const char c : text) {
    if (unwanted.find(c) == std::string_view::npos) kept.push_back(c);
  }
  return kept;
}

// Converts from the standard alphabet with padding to the URL alphabet without padding.
std::string to_url_alphabet(std::string text) {
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return text;
}

}  // namespace

void check_base64(std::string_view input) {
  const std::string text = encode_base64(input);
  require(text.size() == (input.size() + 2) / 3 * 4, "three bytes become four digits");
  require(decode_base64(text) == input, "what is encoded decodes to itself");
  require(decode_base64url(to_url_alphabet(text)) == input, "so it does in the URL alphabet");

  if (const std::optional<std::string> bytes = decode_base64(input)) {
    require(encode_base64(*bytes) == without(input, "\r\n"), "one text for the bytes");
  }
  if (const std::optional<std::string> bytes = decode_base64url(input)) {
    require(to_url_alphabet(encode_base64(*bytes)) == input, "one URL text for the bytes");
  }
}

}  // namespace execcred::fuzz

// SPDX-License-Identifier: Apache-2.0
// Plain text: trimming, quoting for messages, and the name rules of Kubernetes. ASCII rules only;
// nothing here depends on a locale.
#pragma once

#include <execcred/base/secret.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

bool is_space(char c);
bool is_digit(char c);
bool is_alphanumeric(char c);
std::string_view trim(std::string_view text);
std::string ascii_lower(std::string_view text);
// The parts between separators; "" gives one empty part, as "a," gives two.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Nothing but 0x21 to 0x7e.
bool is_visible_ascii(std::string_view text);

// A control character of ASCII (below 0x20, and 0x7f).
bool has_control_character(std::string_view text);

// One line that a terminal shows as it is: control characters, C1 controls, direction marks and
// bytes that are no UTF-8 become \xNN.
std::string printable(std::string_view text);

// 'text' in single quotes, printable, cut after 120 bytes: for input quoted in a message.
std::string in_quotes(std::string_view text);

// RFC 1123 as Kubernetes uses it: a label is at most 63 of [a-z0-9-], starting and ending with a
// letter or digit; a subdomain is such labels joined by dots, at most 253 in all, but there no
// single label is bounded.
bool is_dns1123_label(std::string_view text);
bool is_dns1123_subdomain(std::string_view text);

// "allow-server" → "allowServer", the spelling of a flag in spec.cluster.config.
std::string camel_case(std::string_view dashed);
// "allow-server" → "EXECCRED_ALLOW_SERVER".
std::string environment_name(std::string_view dashed);

// Secrets that must not be shown, although a server may repeat them.
using SecretTexts = std::vector<SecretString>;

// The text, on one line and cut after `limit` bytes of what is shown, with "***" for whatever of it
// also stands in a secret or looks like a JWT.
std::string shown_text(std::string_view text, const SecretTexts& secrets, std::size_t limit);

// Finds plain text, eight bytes at once: several checks in every run read certificates and tokens
// of kilobytes.

using ByteWord = std::uint64_t;

constexpr ByteWord in_each_byte(unsigned char value) {
  return ByteWord{0x0101010101010101} * value;
}

// Not zero if a byte of the word is below `limit`, which is 0x80 at most.
constexpr ByteWord has_below(ByteWord word, unsigned char limit) {
  return (word - in_each_byte(limit)) & ~word & in_each_byte(0x80);
}
constexpr ByteWord has_byte(ByteWord word, char c) {
  return has_below(word ^ in_each_byte(static_cast<unsigned char>(c)), 1);
}
constexpr ByteWord has_non_ascii(ByteWord word) { return word & in_each_byte(0x80); }
constexpr ByteWord has_control(ByteWord word) {
  return has_below(word, 0x20) | has_byte(word, 0x7f);
}

// The length of the longest front of `text` without a byte for which `is_other` is true;
// `has_other` returns 0 for a word without one.
template <class HasOther, class IsOther>
std::size_t plain_length(std::string_view text, HasOther has_other, IsOther is_other) {
  std::size_t length = 0;
  for (ByteWord word = 0; text.size() - length >= sizeof(word); length += sizeof(word)) {
    std::memcpy(&word, text.data() + length, sizeof(word));
    if (has_other(word) != 0) break;
  }
  while (length < text.size() && !is_other(text[length])) ++length;
  return length;
}

// The ASCII characters that a JSON string holds unescaped (RFC 8259 section 7).
inline std::size_t plain_json_length(std::string_view text) {
  return plain_length(
      text,
      [](ByteWord word) {
        return has_non_ascii(word) | has_below(word, 0x20) | has_byte(word, '"') |
               has_byte(word, '\\');
      },
      [](char c) {
        const auto value = static_cast<unsigned char>(c);
        return value < 0x20 || value >= 0x80 || c == '"' || c == '\\';
      });
}

inline std::size_t ascii_length(std::string_view text) {
  return plain_length(text, has_non_ascii,
                      [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

}  // namespace execcred

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
#include <type_traits>
#include <vector>

namespace execcred {

bool is_space(char c);
bool is_digit(char c);
bool is_alphanumeric(char c);
// Whether each byte is an ASCII letter, a digit or one of `marks`.
bool is_alphanumeric_or(std::string_view text, std::string_view marks);
std::string_view trim(std::string_view text);
std::string ascii_lower(std::string_view text);
// The parts between separators; "" gives one empty part, as "a," gives two.
std::vector<std::string_view> split(std::string_view text, char separator);
// The parts would outlive a temporary text.
template <class Text>
requires std::is_same_v<Text, std::string> std::vector<std::string_view> split(Text&& text,
                                                                               char separator)
= delete;
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Whether each byte is from 0x21 to 0x7e.
bool is_visible_ascii(std::string_view text);

// Whether the text contains a control character of ASCII (below 0x20, or 0x7f).
bool has_control_character(std::string_view text);

// The text as one line that is safe to show on a terminal: control characters (C0 and C1), line
// separators, direction marks, characters without width, and bytes that are not UTF-8 become \xNN.
std::string printable(std::string_view text);

// The text in single quotes, printable, cut after 120 bytes: for input that a message quotes.
std::string in_quotes(std::string_view text);

// The texts in quotes, joined by commas. Only the first `most` of them are shown; the others are
// counted.
std::string quoted_list(const std::vector<std::string>& texts,
                        std::size_t most = std::string_view::npos);

// RFC 1123 as Kubernetes uses it. A label has at most 63 characters of [a-z0-9-], and starts and
// ends with a letter or digit. A subdomain is such labels joined by dots, with at most 253
// characters in all, but without the limit on each label.
bool is_dns1123_label(std::string_view text);
bool is_dns1123_subdomain(std::string_view text);

// "NAMESPACE/NAME", or the name alone without a namespace.
std::string full_name_of(std::string_view name_space, std::string_view name);

// "allow-server" → "allowServer", the spelling of a flag in spec.cluster.config.
std::string camel_case(std::string_view dashed);
// "allow-server" → "EXECCRED_ALLOW_SERVER".
std::string environment_name(std::string_view dashed);

// The text with "***" for each run of marked characters.
std::string without_marked(std::string_view text, const std::vector<bool>& marked);

// Text of the other side for a message: on one line, cut after `limit` bytes of the result, with
// "***" for what looks like a JWT. What the call itself sent is hidden later (known_secrets.hpp).
std::string shown_text(std::string_view text, std::size_t limit);

// The functions below find plain text, eight bytes at a time, because several checks in every run
// read certificates and tokens of kilobytes.

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

// The length of the longest prefix of `text` without a byte for which `is_other` is true.
// `has_other` returns 0 for a word without such a byte.
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

// The length of the longest prefix of ASCII characters that a JSON string holds unescaped (RFC 8259
// section 7).
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

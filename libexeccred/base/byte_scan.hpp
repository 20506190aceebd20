// SPDX-License-Identifier: Apache-2.0
// How much of a text is plain, told of eight bytes at once: certificates and tokens are kilobytes
// that several checks go through in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace execcred {

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

// The length of the longest front of `text` without a byte that `is_other` tells of; `has_other`
// returns 0 for a word without one.
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

// What a JSON string holds as it is, but for characters that are not ASCII (RFC 8259 section 7).
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

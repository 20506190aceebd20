// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/base64.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace execcred {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNone = 0xff;

using DecodeTable = std::array<std::uint8_t, 256>;

constexpr DecodeTable decode_table(std::string_view alphabet) {
  DecodeTable table = {};
  table.fill(kNone);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}

constexpr DecodeTable kStandardTable = decode_table(kStandard);
constexpr DecodeTable kUrlTable = decode_table(kUrl);

// Digits without padding; false for a foreign byte, a lone last digit, or stray bits.
bool decode_digits(std::string_view digits, const DecodeTable& table, std::string& bytes) {
  bytes.resize(digits.size() * 6 / 8);
  std::size_t size = 0;
  const auto value_of = [&table](char c) {
    return std::uint32_t{table[static_cast<unsigned char>(c)]};
  };
  for (; digits.size() >= 4; digits.remove_prefix(4)) {
    const std::uint32_t first = value_of(digits[0]), second = value_of(digits[1]);
    const std::uint32_t third = value_of(digits[2]), fourth = value_of(digits[3]);
    if ((first | second | third | fourth) == kNone) return false;
    const std::uint32_t group = first << 18U | second << 12U | third << 6U | fourth;
    bytes[size++] = static_cast<char>(group >> 16U & 0xffU);
    bytes[size++] = static_cast<char>(group >> 8U & 0xffU);
    bytes[size++] = static_cast<char>(group & 0xffU);
  }
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : digits) {
    const std::uint8_t value = table[static_cast<unsigned char>(c)];
    if (value == kNone) return false;
    bits = (bits << 6) | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[size++] = static_cast<char>((bits >> count) & 0xff);
    }
  }
  return count < 6 && (bits & ((1U << count) - 1)) == 0;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string digits(text);
  digits.erase(
      std::remove_if(digits.begin(), digits.end(), [](char c) { return c == '\r' || c == '\n'; }),
      digits.end());
  if (digits.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && digits.ends_with('='); ++padding) digits.pop_back();
  std::string bytes;
  if (!decode_digits(digits, kStandardTable, bytes)) return std::nullopt;
  return bytes;
}

std::optional<std::string> decode_base64url(std::string_view text) {
  std::string bytes;
  if (!decode_digits(text, kUrlTable, bytes)) return std::nullopt;
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = (group << 8) | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (unsigned j = 0; j < 4; ++j) {
      const bool is_padding = i + j > bytes.size();
      text.push_back(is_padding ? '=' : kStandard[(group >> (18 - 6 * j)) & 0x3f]);
    }
  }
  return text;
}

SecretString encode_base64url(std::string_view bytes) {
  std::string text = encode_base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  SecretString encoded(std::string_view(text).substr(0, text.find('=')));
  wipe(text);
  return encoded;
}

}  // namespace execcred

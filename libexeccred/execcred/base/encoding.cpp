// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/encoding.hpp>

#include <execcred/base/text.hpp>

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

// Decodes digits without padding. Returns false for a byte outside the alphabet, for a single digit
// in the last group, and for bits after the last byte that are not zero.
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

constexpr std::uint8_t kBetween = 64;
constexpr std::uint8_t kNoDigit = 65;

constexpr std::array<std::uint8_t, 256> kDigitValues = [] {
  std::array<std::uint8_t, 256> values = {};
  values.fill(kNoDigit);
  for (const char c : {' ', '\t', '\n', '\v', '\f', '\r'}) {
    values.at(static_cast<unsigned char>(c)) = kBetween;
  }
  for (std::size_t i = 0; i < kStandard.size(); ++i) {
    values.at(static_cast<unsigned char>(kStandard[i])) = static_cast<std::uint8_t>(i);
  }
  return values;
}();

unsigned char to_byte(char c) { return static_cast<unsigned char>(c); }

constexpr std::string_view kUnreservedMarks = "-._~";
constexpr std::string_view kLowerHex = "0123456789abcdef";
constexpr std::string_view kUpperHex = "0123456789ABCDEF";

// Percent-encodes each character except the unreserved ones and those of `unencoded`. A space
// becomes `space`, unless that is 0.
SecretString encoded(std::string_view text, std::string_view unencoded, char space) {
  SecretString out;
  char* const begin = out.reserve(3 * text.size());
  std::size_t size = 0;
  for (const char c : text) {
    if (is_alphanumeric(c) || kUnreservedMarks.find(c) != std::string_view::npos ||
        unencoded.find(c) != std::string_view::npos) {
      begin[size++] = c;
    } else if (c == ' ' && space != 0) {
      begin[size++] = space;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      begin[size++] = '%';
      begin[size++] = kUpperHex[byte >> 4U];
      begin[size++] = kUpperHex[byte & 0xfU];
    }
  }
  out.grow(size);
  return out;
}

std::optional<SecretString> decoded(std::string_view text, char space) {
  SecretString out;
  char* const begin = out.reserve(text.size());
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      begin[size++] = text[i] == space && space != 0 ? ' ' : text[i];
      continue;
    }
    const int byte = percent_decoded_byte(text, i);
    if (byte < 0) return std::nullopt;
    begin[size++] = static_cast<char>(byte);
    i += 2;
  }
  out.grow(size);
  return out;
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

std::string decode_base64_front(std::string_view front) {
  std::string bytes(front.size() / 4 * 3 + 3, '\0');
  char* out = bytes.data();
  std::uint32_t bits = 0;
  int digits = 0;
  const auto put = [&out](std::uint32_t three) {
    for (const int shift : {16, 8, 0}) *out++ = static_cast<char>(three >> shift);
  };
  const auto value_of = [](char c) { return kDigitValues[static_cast<unsigned char>(c)]; };
  for (const char* in = front.data(), * const end = in + front.size(); in != end;) {
    if (digits == 0 && end - in >= 4) {
      const std::array<std::uint8_t, 4> four = {value_of(in[0]), value_of(in[1]), value_of(in[2]),
                                                value_of(in[3])};
      if ((four[0] | four[1] | four[2] | four[3]) < kBetween) {
        put(std::uint32_t{four[0]} << 18 | std::uint32_t{four[1]} << 12 |
            std::uint32_t{four[2]} << 6 | four[3]);
        in += 4;
        continue;
      }
    }
    const std::uint8_t value = value_of(*in++);
    if (value == kBetween) continue;
    if (value == kNoDigit) break;
    bits = bits << 6 | value;
    if (++digits < 4) continue;
    put(bits);
    digits = 0;
  }
  bytes.resize(static_cast<std::size_t>(out - bytes.data()));
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

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void append_hex(unsigned char byte, std::string& out) {
  out.push_back(kLowerHex[byte >> 4U]);
  out.push_back(kLowerHex[byte & 0xfU]);
}

std::string hex_digits(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; number >>= 4U) text[i] = kLowerHex[number & 0xfU];
  return text;
}

std::string percent_encode(std::string_view text) {
  return std::string(encoded(text, {}, 0).reveal());
}

SecretString percent_encode_secret(std::string_view text, std::string_view unencoded) {
  return encoded(text, unencoded, 0);
}

int percent_decoded_byte(std::string_view text, std::size_t at) {
  if (text[at] != '%' || text.size() - at < 3) return -1;
  const int high = hex_value(text[at + 1]);
  const int low = hex_value(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

std::optional<SecretString> percent_decode(std::string_view text) { return decoded(text, 0); }

SecretString form_urlencode(std::string_view text) { return encoded(text, {}, '+'); }

std::optional<SecretString> form_urldecode(std::string_view text) { return decoded(text, '+'); }

CodePoint decode_utf8(std::string_view text) {
  const unsigned char first = to_byte(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t value = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((to_byte(text[i]) & 0xc0) != 0x80) return {};
    value = (value << 6) | (to_byte(text[i]) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[length] || value > 0x10ffff || surrogate) return {};
  return {value, length};
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/key.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>

namespace execcred {
namespace {

constexpr std::string_view kFormat = "execcred-cache=1";

void append_encoded(std::string& out, std::string_view text, bool is_name) {
  const char mark = is_name ? '=' : '%';
  const auto has_other = [mark](ByteWord word) {
    return has_control(word) | has_byte(word, '%') | has_byte(word, mark);
  };
  const auto is_other = [mark](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '%' || c == mark;
  };
  for (;;) {
    const std::size_t plain = plain_length(text, has_other, is_other);
    out.append(text.substr(0, plain));
    if (plain == text.size()) return;
    const auto byte = static_cast<unsigned char>(text[plain]);
    out.push_back('%');
    append_hex(byte, out);
    text.remove_prefix(plain + 1);
  }
}

}  // namespace

CacheKey& CacheKey::add(std::string_view name, std::string_view value) {
  const auto is_before = [](std::string_view wanted, const auto& field) {
    return wanted < field.first;
  };
  const auto place = std::upper_bound(fields_.begin(), fields_.end(), name, is_before);
  fields_.emplace(place, name, value);
  return *this;
}

std::string CacheKey::text() const {
  std::string text(kFormat);
  for (const auto& [name, value] : fields_) {
    text.push_back('\n');
    append_encoded(text, name, true);
    text.push_back('=');
    append_encoded(text, value, false);
  }
  return text;
}

std::string KeyHash::hex() const { return hex_digits(high) + hex_digits(low); }

// The finaliser of SplitMix64.
std::uint64_t KeyHash::mixed() const {
  std::uint64_t value = high ^ low;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

KeyHash hash_key(std::string_view text) {
  __extension__ using Wide = unsigned __int128;
  constexpr Wide kPrime = (Wide{1} << 88U) + 0x13bU;
  Wide hash = (Wide{0x6c62272e07bb0142U} << 64U) + 0x62b821756295c58dU;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return {.high = static_cast<std::uint64_t>(hash >> 64U), .low = static_cast<std::uint64_t>(hash)};
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/fields.hpp>

#include <execcred/cache/key.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace execcred {
namespace {

constexpr std::string_view kEnd = "end ";
constexpr std::size_t kEndSize = kEnd.size() + 16 + 1;

// A number in the one spelling that the writer uses.
std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = -1;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  const bool is_spelt_well = text.size() == 1 || !text.starts_with('0');
  if (problem != std::errc() || stop != end || number < 0 || !is_spelt_well) return std::nullopt;
  if (text.front() == '-') return std::nullopt;
  return number;
}

}  // namespace

// FNV-1a over words of eight bytes instead of bytes, the last one filled up, the size at the end.
// Each step can be undone, so a change within one word always shows.
std::uint64_t cache_checksum(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3U;
  std::uint64_t sum = 0xcbf29ce484222325U;
  const std::size_t size = text.size();
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), count);
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 32U;
    text.remove_prefix(count);
  }
  return (sum ^ size) * kPrime;
}

FieldWriter::FieldWriter(std::string_view header) {
  text_.reserve(4096);
  text_.append(header);
  text_.append("\n");
}

void FieldWriter::add(std::string_view name, std::string_view value) {
  text_.append(name);
  text_.append(" ");
  text_.append(std::to_string(value.size()));
  text_.append("\n");
  text_.append(value);
  text_.append("\n");
}

SecretString FieldWriter::finish() {
  const std::string sum = hex_digits(cache_checksum(text_.reveal()));
  text_.append(kEnd);
  text_.append(sum);
  text_.append("\n");
  return std::move(text_);
}

FieldReader::FieldReader(std::string_view text, std::string_view header) : rest_(text) {
  if (text.size() < kEndSize) {
    is_good_ = false;
    return;
  }
  rest_.remove_suffix(kEndSize);
  const std::string_view end = text.substr(rest_.size());
  checksum_ = cache_checksum(rest_);
  is_good_ = end.starts_with(kEnd) && end.ends_with('\n') &&
             end.substr(kEnd.size(), 16) == hex_digits(checksum_);
  is_good_ = is_good_ && take_line() == header;
}

std::string_view FieldReader::take(std::size_t size) {
  if (!is_good_ || rest_.size() <= size || rest_[size] != '\n') {
    is_good_ = false;
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size + 1);
  return taken;
}

std::string_view FieldReader::take_line() { return take(rest_.find('\n')); }

std::string_view FieldReader::field(std::string_view name) {
  std::string_view line = take_line();
  if (!is_good_ || !line.starts_with(name) || line.substr(name.size()).substr(0, 1) != " ") {
    is_good_ = false;
    return {};
  }
  const std::optional<std::int64_t> size = parse_number(line.substr(name.size() + 1));
  if (!size) is_good_ = false;
  return is_good_ ? take(static_cast<std::size_t>(*size)) : std::string_view();
}

std::int64_t FieldReader::number(std::string_view name) {
  const std::optional<std::int64_t> value = parse_number(field(name));
  if (!value) is_good_ = false;
  return value.value_or(0);
}

std::optional<std::string_view> FieldReader::optional_field(std::string_view name) {
  const bool is_next = rest_.starts_with(name) && rest_.substr(name.size()).starts_with(' ');
  if (!is_good_ || !is_next) return std::nullopt;
  const std::string_view value = field(name);
  return is_good_ ? std::optional(value) : std::nullopt;
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/yaml/yaml_scalar.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace execcred::yaml {
namespace {

using json::Number;
using json::Value;

Error wrong(std::string message) {
  return Error{.kind = Error::Kind::configuration, .message = std::move(message)};
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> kNotFinite = {".inf",  ".Inf",  ".INF",  "+.inf",
                                                         "+.Inf", "+.INF", "-.inf", "-.Inf",
                                                         "-.INF", ".nan",  ".NaN",  ".NAN"};

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// JSON's grammar for numbers; big ones keep their digits.
bool is_json_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  std::string_view mantissa = text.substr(0, exponent);
  std::string_view power = text.substr(std::min(exponent + 1, text.size()));
  if (exponent < text.size()) {
    if (power.starts_with('+') || power.starts_with('-')) power.remove_prefix(1);
    if (!all_digits(power)) return false;
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::string_view whole = mantissa.substr(0, point);
  if (point < mantissa.size() && !all_digits(mantissa.substr(point + 1))) return false;
  return all_digits(whole) && (whole.size() == 1 || whole.front() != '0');
}

// 0x1F, 0b11, 0o17, 017, 1_000 and signs: integers that go-yaml knows and JSON does not.
std::optional<std::string> other_integer(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  std::string_view rest = digits;
  const bool is_negative = rest.starts_with('-');
  const bool is_signed = is_negative || rest.starts_with('+');
  if (is_signed) rest.remove_prefix(1);
  int base = 10;
  if (rest.starts_with("0x") || rest.starts_with("0X")) base = 16;
  if (rest.starts_with("0b") || rest.starts_with("0B")) base = 2;
  if (rest.starts_with("0o") || rest.starts_with("0O")) base = 8;
  if (base != 10) rest.remove_prefix(2);
  if (base == 10 && rest.size() > 1 && rest.front() == '0') base = 8;
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (rest.empty() || problem != std::errc() || end != rest.data() + rest.size()) {
    return std::nullopt;
  }
  // With a sign it is an int64 there, without one a uint64.
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (is_signed && value > kMost + (is_negative ? 1 : 0)) return std::nullopt;
  return (is_negative && value != 0 ? "-" : "") + std::to_string(value);
}

// ".5", "5.", "+1.5", "08" and "1_000.5": decimals that JSON writes otherwise.
std::optional<std::string> other_decimal(std::string_view text) {
  std::string digits(text);
  if (!text.starts_with('.')) std::erase(digits, '_');
  std::string_view rest = digits;
  const bool is_negative = rest.starts_with('-');
  if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
  const std::size_t exponent = std::min(rest.find_first_of("eE"), rest.size());
  const std::string_view mantissa = rest.substr(0, exponent);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string_view whole = mantissa.substr(0, point);
  const std::string_view fraction = mantissa.substr(std::min(point + 1, mantissa.size()));
  if (whole.empty() && fraction.empty()) return std::nullopt;
  while (whole.size() > 1 && whole.front() == '0') whole.remove_prefix(1);
  std::string number(is_negative ? "-" : "");
  number.append(whole.empty() ? "0" : whole);
  if (!fraction.empty()) number.append(".").append(fraction);
  number.append(rest.substr(exponent));
  if (!is_json_number(number)) return std::nullopt;
  return number;
}

// What no double can hold is text there.
bool is_finite(const std::string& number) {
  return std::isfinite(std::strtod(number.c_str(), nullptr));
}

Result<Value> resolve_plain(std::string_view text) {
  if (is_one_of(text, kNull)) return Value();
  if (is_one_of(text, kTrue)) return Value(true);
  if (is_one_of(text, kFalse)) return Value(false);
  const bool may_be_number =
      is_digit(text.front()) || text.front() == '-' || text.front() == '+' || text.front() == '.';
  if (!may_be_number) return Value(text);
  if (is_one_of(text, kNotFinite)) {
    return wrong("has the number " + in_quotes(text) + ", which JSON cannot hold,");
  }
  std::optional<std::string> number;
  if (is_json_number(text)) number = text;
  if (!number) number = other_integer(text);
  if (!number) number = other_decimal(text);
  return number && is_finite(*number) ? Value(Number{*number}) : Value(text);
}

}  // namespace

Result<Value> resolve_scalar(std::string_view text, bool is_plain, std::string_view tag) {
  if (tag == YAML_STR_TAG || (tag == "!" && !is_plain)) return Value(text);
  if (tag.empty() || tag == "!") return is_plain ? resolve_plain(text) : Value(text);
  Value value = TRY(resolve_plain(text));
  const json::Number* number = value.number();
  const bool is_whole = number != nullptr && number->text.find_first_of(".eE") == std::string::npos;
  const bool fits = (tag == YAML_NULL_TAG && value.is_null()) ||
                    (tag == YAML_BOOL_TAG && value.boolean() != nullptr) ||
                    (tag == YAML_INT_TAG && is_whole) ||
                    (tag == YAML_FLOAT_TAG && number != nullptr);
  if (!fits) return wrong("has a scalar whose tag is unknown or does not fit");
  return value;
}

}  // namespace execcred::yaml

// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/duration.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <array>
#include <cstdint>

namespace execcred {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};

constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\u00b5s", 1'000},
                                         {"\u03bcs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

// The first number of nanoseconds that a positive duration cannot hold. A negative one can hold it.
constexpr std::uint64_t kTooLong = std::uint64_t{1} << 63U;

Error malformed(std::string_view text) {
  return Error::configuration(in_quotes(text) + " is no duration",
                              "write it like 90s, 5m or 1h30m");
}

// Removes the digits at the front of `rest`. Returns false if their number exceeds kTooLong.
bool take_whole(std::string_view& rest, std::uint64_t& value) {
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
    if (value > kTooLong / 10) return false;
    value = value * 10 + static_cast<std::uint64_t>(rest.front() - '0');
    if (value > kTooLong) return false;
  }
  return true;
}

struct Fraction {
  std::uint64_t digits = 0;
  double scale = 1;
};

// Removes the digits of a fraction. Those that do not fit into 63 bits are ignored.
Fraction take_fraction(std::string_view& rest) {
  Fraction fraction;
  bool is_full = false;
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
    is_full = is_full || fraction.digits > (kTooLong - 1) / 10;
    if (is_full) continue;
    const std::uint64_t next =
        fraction.digits * 10 + static_cast<std::uint64_t>(rest.front() - '0');
    is_full = next > kTooLong;
    if (is_full) continue;
    fraction.digits = next;
    fraction.scale *= 10;
  }
  return fraction;
}

std::uint64_t take_unit(std::string_view& rest) {
  const std::string_view name = rest.substr(0, rest.find_first_of(".0123456789"));
  rest.remove_prefix(name.size());
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.nanoseconds;
  }
  return 0;
}

// Removes one term, such as "1.5h", from the front of `rest`. Returns false if there is none, or if
// it does not fit. The arithmetic is Go's, step by step, so that fractions are rounded in the same
// way.
bool take_term(std::string_view& rest, std::uint64_t& nanoseconds) {
  std::uint64_t whole = 0;
  const std::size_t size = rest.size();
  if (!take_whole(rest, whole)) return false;
  std::size_t digits = size - rest.size();
  Fraction fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const std::size_t fraction_size = rest.size();
    fraction = take_fraction(rest);
    digits += fraction_size - rest.size();
  }
  const std::uint64_t unit = take_unit(rest);
  if (digits == 0 || unit == 0 || whole > kTooLong / unit) return false;
  nanoseconds =
      whole * unit + static_cast<std::uint64_t>(static_cast<double>(fraction.digits) *
                                                (static_cast<double>(unit) / fraction.scale));
  return nanoseconds <= kTooLong;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  if (rest == "0") return Duration::zero();
  if (rest.empty()) return malformed(text);
  std::uint64_t total = 0;
  while (!rest.empty()) {
    std::uint64_t term = 0;
    if (!take_term(rest, term) || total > kTooLong - term) return malformed(text);
    total += term;
  }
  if (negative) return Duration(static_cast<std::int64_t>(-total));
  if (total == kTooLong) return malformed(text);
  return Duration(static_cast<std::int64_t>(total));
}

Result<Duration> parse_timeout(std::string_view text) {
  constexpr Duration kLongest = std::chrono::seconds(60);
  const Duration timeout = TRY(parse_duration(text));
  if (timeout > Duration::zero() && timeout <= kLongest) return timeout;
  return Error::configuration(in_quotes(text) + " is not above 0 and at most 60s",
                              "some clients wait only 10s for a plugin");
}

std::string format_duration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  const bool negative = duration < Duration::zero();
  std::string text = negative ? "-" : "";
  auto rest = static_cast<std::uint64_t>(duration.count());
  if (negative) rest = -rest;
  for (const Unit& unit : {kUnits[7], kUnits[6], kUnits[5], kUnits[4], kUnits[1], kUnits[0]}) {
    if (rest < unit.nanoseconds) continue;
    text += std::to_string(rest / unit.nanoseconds);
    text += unit.name;
    rest %= unit.nanoseconds;
  }
  return text;
}

}  // namespace execcred

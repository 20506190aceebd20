// SPDX-License-Identifier: Apache-2.0
#include <execcred/duration.hpp>
#include <execcred/text.hpp>

#include <array>
#include <cstdint>
#include <limits>

namespace execcred {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\u00b5s", 1'000},
                                         {"\u03bcs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Error malformed(std::string_view text) {
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(text) + " is no duration",
               .hint = "write it like 90s, 5m or 1h30m"};
}

// One "1.5h" at the front of `rest`; false where there is none or it does not fit.
bool take_term(std::string_view& rest, std::int64_t& nanoseconds) {
  std::int64_t whole = 0;
  std::int64_t fraction = 0;
  std::int64_t scale = 1;
  std::size_t digits = 0;
  std::size_t i = 0;
  for (; i < rest.size() && is_digit(rest[i]); ++i, ++digits) {
    if (whole > (kMax - 9) / 10) return false;
    whole = whole * 10 + (rest[i] - '0');
  }
  if (i < rest.size() && rest[i] == '.') {
    for (++i; i < rest.size() && is_digit(rest[i]); ++i, ++digits) {
      if (scale >= 1'000'000'000'000) continue;  // below a nanosecond of an hour
      fraction = fraction * 10 + (rest[i] - '0');
      scale *= 10;
    }
  }
  const std::size_t unit_start = i;
  while (i < rest.size() && rest[i] != '.' && !is_digit(rest[i])) ++i;
  const std::string_view name = rest.substr(unit_start, i - unit_start);
  if (digits == 0) return false;
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    if (whole > kMax / unit.nanoseconds) return false;
    const auto part =
        static_cast<std::int64_t>(static_cast<double>(fraction) / static_cast<double>(scale) *
                                  static_cast<double>(unit.nanoseconds));
    if (whole * unit.nanoseconds > kMax - part) return false;
    nanoseconds = whole * unit.nanoseconds + part;
    rest.remove_prefix(i);
    return true;
  }
  return false;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  if (rest == "0") return Duration::zero();
  if (rest.empty()) return malformed(text);
  std::int64_t total = 0;
  while (!rest.empty()) {
    std::int64_t term = 0;
    if (!take_term(rest, term) || total > kMax - term) return malformed(text);
    total += term;
  }
  return Duration(negative ? -total : total);
}

Result<Duration> parse_timeout(std::string_view text) {
  constexpr Duration kLongest = std::chrono::seconds(60);
  TRY_ASSIGN(const Duration timeout, parse_duration(text));
  if (timeout > Duration::zero() && timeout <= kLongest) return timeout;
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(text) + " is not above 0 and at most 60s",
               .hint = "clients wait about 10s for a plugin"};
}

std::string format_duration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  if (duration < Duration::zero()) return "-" + format_duration(-duration);
  std::string text;
  std::int64_t rest = duration.count();
  for (const Unit& unit : {kUnits[7], kUnits[6], kUnits[5], kUnits[4], kUnits[1], kUnits[0]}) {
    if (rest < unit.nanoseconds) continue;
    text += std::to_string(rest / unit.nanoseconds);
    text += unit.name;
    rest %= unit.nanoseconds;
  }
  return text;
}

}  // namespace execcred

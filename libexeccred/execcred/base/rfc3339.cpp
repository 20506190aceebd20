// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/rfc3339.hpp>

#include <execcred/base/text.hpp>

#include <cstdint>

namespace execcred {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

Error malformed(std::string_view text) {
  return Error::configuration(quoted_time(text) + " is no RFC 3339 time",
                              "write it like 2026-07-01T12:00:00Z");
}

void append_digits(std::string& out, int value, std::size_t width) {
  const std::string digits = std::to_string(value);
  out.append(width > digits.size() ? width - digits.size() : 0, '0').append(digits);
}

// Reads fixed-width fields from the front of a text; ok() stays false after the first mismatch.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  int number(std::size_t width, int least, int most) {
    int value = 0;
    if (rest_.size() < width) ok_ = false;
    for (std::size_t i = 0; ok_ && i < width; ++i) {
      if (!is_digit(rest_[i])) ok_ = false;
      value = value * 10 + (rest_[i] - '0');
    }
    if (ok_) rest_.remove_prefix(width);
    if (value < least || value > most) ok_ = false;
    return value;
  }

  void expect(char c) {
    if (!accept(c)) ok_ = false;
  }

  bool accept(char c) {
    if (!ok_ || rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  nanoseconds fraction() {
    if (!accept('.')) return nanoseconds::zero();
    std::int64_t value = 0;
    std::int64_t unit = 100'000'000;
    std::size_t digits = 0;
    for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1), ++digits) {
      value += (rest_.front() - '0') * unit;
      unit /= 10;
    }
    if (digits == 0) ok_ = false;
    return nanoseconds(value);
  }

  minutes zone() {
    if (accept('Z') || accept('z')) return minutes::zero();
    const bool west = accept('-');
    if (!west) expect('+');
    const hours zone_hours(number(2, 0, 23));
    expect(':');
    const minutes offset = zone_hours + minutes(number(2, 0, 59));
    return west ? -offset : offset;
  }

  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::string format_rfc3339(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string text;
  text.reserve(20);
  append_digits(text, static_cast<int>(date.year()), 4);
  text.push_back('-');
  append_digits(text, static_cast<int>(static_cast<unsigned>(date.month())), 2);
  text.push_back('-');
  append_digits(text, static_cast<int>(static_cast<unsigned>(date.day())), 2);
  text.push_back('T');
  append_digits(text, static_cast<int>(clock.hours().count()), 2);
  text.push_back(':');
  append_digits(text, static_cast<int>(clock.minutes().count()), 2);
  text.push_back(':');
  append_digits(text, static_cast<int>(clock.seconds().count()), 2);
  text.push_back('Z');
  return text;
}

Result<TimePoint> parse_rfc3339(std::string_view text) {
  Fields fields(text);
  // A TimePoint reaches from 1677 to 2262; some programs write a later time for "never", and Go
  // writes the year 1 for its zero time.
  constexpr std::chrono::year kFirst(1678);
  constexpr std::chrono::year kLast(2261);
  const std::chrono::year year(fields.number(4, 0, 9999));
  fields.expect('-');
  const std::chrono::month month(static_cast<unsigned>(fields.number(2, 1, 12)));
  fields.expect('-');
  const std::chrono::day day(static_cast<unsigned>(fields.number(2, 1, 31)));
  if (!fields.accept('t')) fields.expect('T');
  const hours hour(fields.number(2, 0, 23));
  fields.expect(':');
  const minutes minute(fields.number(2, 0, 59));
  fields.expect(':');
  const seconds second(fields.number(2, 0, 59));
  const nanoseconds fraction = fields.fraction();
  const minutes offset = fields.zone();
  const std::chrono::year_month_day date(year, month, day);
  if (!fields.done() || !date.ok()) return malformed(text);
  if (year > kLast) return TimePoint(std::chrono::sys_days(kLast / std::chrono::December / 31));
  if (year < kFirst) return TimePoint(std::chrono::sys_days(kFirst / std::chrono::January / 1));
  return TimePoint(std::chrono::sys_days(date)) + hour + minute + second + fraction - offset;
}

std::string quoted_time(std::string_view text) {
  constexpr std::size_t kMost = 40;
  const bool may_be_time = text.size() <= kMost &&
                           text.find_first_not_of("0123456789 +-.:TZtz") == std::string_view::npos;
  return may_be_time ? in_quotes(text) : "a text of " + std::to_string(text.size()) + " bytes";
}

}  // namespace execcred

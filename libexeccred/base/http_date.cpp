// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/http_date.hpp>

#include <execcred/base/text.hpp>

#include <array>
#include <chrono>
#include <string>

namespace execcred {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Reads the parts of a date off the front of a text; ok() stays false after the first mismatch.
class DateText {
 public:
  explicit DateText(std::string_view text) : rest_(text) {}

  void expect(std::string_view text) {
    if (!accept(text)) ok_ = false;
  }

  bool accept(std::string_view text) {
    if (!ok_ || !rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  int number(std::size_t width) {
    int value = 0;
    if (rest_.size() < width) ok_ = false;
    for (std::size_t i = 0; ok_ && i < width; ++i) {
      if (!is_digit(rest_[i])) ok_ = false;
      value = value * 10 + (rest_[i] - '0');
    }
    if (ok_) rest_.remove_prefix(width);
    return value;
  }

  std::chrono::month month() {
    for (unsigned i = 0; i < kMonths.size(); ++i) {
      if (accept(kMonths[i])) return std::chrono::month(i + 1);
    }
    ok_ = false;
    return {};
  }

  std::chrono::day day() { return std::chrono::day(static_cast<unsigned>(number(2))); }
  std::chrono::day day_or_space() {
    return accept(" ") ? std::chrono::day(static_cast<unsigned>(number(1))) : day();
  }

  std::chrono::seconds time_of_day() {
    const int hour = number(2);
    expect(":");
    const int minute = number(2);
    expect(":");
    const int second = number(2);
    if (hour > 23 || minute > 59 || second > 60) ok_ = false;  // 60: a leap second
    return std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
  }

  bool is_done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// RFC 9110: a year that seems more than 50 years ahead is the last one with those digits.
std::chrono::year full_year(int two_digits, TimePoint now) {
  const auto today = std::chrono::floor<std::chrono::days>(now);
  const int this_year = static_cast<int>(std::chrono::year_month_day(today).year());
  const int year = this_year / 100 * 100 + two_digits;
  return std::chrono::year(year > this_year + 50 ? year - 100 : year);
}

struct DateAndTime {
  std::chrono::year_month_day date = {};
  std::chrono::seconds time = {};
};

// "06 Nov 1994 08:49:37 GMT"
DateAndTime read_imf_fixdate(DateText& rest) {
  DateAndTime read;
  const std::chrono::day day = rest.day();
  rest.expect(" ");
  const std::chrono::month month = rest.month();
  rest.expect(" ");
  read.date = std::chrono::year(rest.number(4)) / month / day;
  rest.expect(" ");
  read.time = rest.time_of_day();
  rest.expect(" GMT");
  return read;
}

// "06-Nov-94 08:49:37 GMT"
DateAndTime read_rfc850(DateText& rest, TimePoint now) {
  DateAndTime read;
  const std::chrono::day day = rest.day();
  rest.expect("-");
  const std::chrono::month month = rest.month();
  rest.expect("-");
  read.date = full_year(rest.number(2), now) / month / day;
  rest.expect(" ");
  read.time = rest.time_of_day();
  rest.expect(" GMT");
  return read;
}

// " Nov  6 08:49:37 1994"
DateAndTime read_asctime(DateText& rest) {
  DateAndTime read;
  rest.expect(" ");
  const std::chrono::month month = rest.month();
  rest.expect(" ");
  const std::chrono::day day = rest.day_or_space();
  rest.expect(" ");
  read.time = rest.time_of_day();
  rest.expect(" ");
  read.date = std::chrono::year(rest.number(4)) / month / day;
  return read;
}

}  // namespace

std::optional<TimePoint> parse_http_date(std::string_view text, TimePoint now) {
  unsigned weekday = 0;
  while (weekday < kDays.size() && !text.starts_with(kDays[weekday].substr(0, 3))) ++weekday;
  if (weekday == kDays.size()) return std::nullopt;
  DateText rest(text);
  DateAndTime read;
  if (rest.accept(std::string(kDays[weekday]) + ", ")) {
    read = read_rfc850(rest, now);
  } else {
    rest.expect(kDays[weekday].substr(0, 3));
    read = rest.accept(", ") ? read_imf_fixdate(rest) : read_asctime(rest);
  }
  const int year = static_cast<int>(read.date.year());
  if (!rest.is_done() || !read.date.ok() || year < 1678 || year > 2261) return std::nullopt;
  const std::chrono::sys_days days(read.date);
  if (std::chrono::weekday(days).c_encoding() != weekday) return std::nullopt;
  return TimePoint(days) + read.time;
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// Retry-After: bounded for any text, and any second of the calendar reads back in each form.
#include "fuzz.hpp"

#include <execcred/http/retry.hpp>

#include <array>
#include <ctime>

namespace execcred::fuzz {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr TimePoint kNow = TimePoint(seconds(1'782'907'200));  // 2026-07-01

void check_date(std::time_t time, const char* form) {
  std::tm broken = {};
  gmtime_r(&time, &broken);
  std::array<char, 64> text = {};
  std::strftime(text.data(), text.size(), form, &broken);
  const std::optional<Duration> pause =
      parse_retry_after(text.data(), TimePoint(seconds(time)) - seconds(7));
  require(pause == seconds(7), "a date is the second that the C library wrote");
}

}  // namespace

void check(std::string_view input) {
  const std::optional<Duration> pause = parse_retry_after(input, kNow);
  require(!pause || (*pause >= seconds(0) && *pause <= hours(24)), "a pause is 0 to 24 hours");

  constexpr std::int64_t kYear1970 = 0;
  constexpr std::int64_t kYear2261 = 9'183'110'400;
  const std::int64_t second = (number_from(input) & INT64_MAX) % (kYear2261 - kYear1970);
  check_date(second, "%a, %d %b %Y %H:%M:%S GMT");
  check_date(second, "%A, %d-%b-%y %H:%M:%S GMT");
  check_date(second, "%a %b %e %H:%M:%S %Y");
}

}  // namespace execcred::fuzz

// SPDX-License-Identifier: Apache-2.0
// RFC 3339: times that are read agree with the C library, and written times are read back.
#include "fuzz.hpp"
#include "line.hpp"

#include <execcred/base/rfc3339.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

namespace execcred::fuzz {
namespace {

using std::chrono::floor;
using std::chrono::seconds;
using std::chrono::sys_seconds;

// The whole seconds of a text that is known to be well formed. The C library knows no small
// letters.
std::int64_t seconds_by_libc(std::string text) {
  std::replace(text.begin(), text.end(), 't', 'T');
  std::replace(text.begin(), text.end(), 'z', 'Z');
  std::tm time = {};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  require(rest != nullptr, "the C library reads it too");
  rest += *rest == '.' ? 1 + std::strspn(rest + 1, "0123456789") : 0;
  std::int64_t offset = 0;
  if (*rest != 'Z') {
    int zone_hours = 0;
    int zone_minutes = 0;
    // NOLINTNEXTLINE(cert-err34-c): four digits, which parse_rfc3339 has checked
    require(std::sscanf(rest + 1, "%2d:%2d", &zone_hours, &zone_minutes) == 2, "the zone too");
    offset = (zone_hours * 60 + zone_minutes) * 60;
    if (*rest == '-') offset = -offset;
  }
  return timegm(&time) - offset;
}

void check_text(std::string_view text) {
  const Result<TimePoint> time = parse_rfc3339(text);
  if (!time) {
    require(time.error().kind == Error::Kind::configuration, "a malformed time is configuration");
    return;
  }
  const auto whole = floor<seconds>(*time);
  if (text.substr(0, 4) > "2261") {
    require(format_rfc3339(whole) == "2261-12-31T00:00:00Z", "what cannot be held is the last day");
    return;
  }
  if (text.substr(0, 4) < "1678") {
    require(format_rfc3339(whole) == "1678-01-01T00:00:00Z", "or the first day");
    return;
  }
  require(whole.time_since_epoch().count() == seconds_by_libc(std::string(text)),
          "the same second as by the C library");
  const std::string written = format_rfc3339(whole);
  if (written < "1678" || written > "2262") return;  // the zone moves it out of the range
  const Result<TimePoint> again = parse_rfc3339(written);
  require(again.has_value() && *again == whole, "what is written reads back");
}

void check_number(std::int64_t number) {
  constexpr std::int64_t kYear0 = -62'167'219'200;
  constexpr std::int64_t kYear10000 = 253'402'300'800;
  const std::int64_t since_epoch = kYear0 + (number & INT64_MAX) % (kYear10000 - kYear0);
  const std::string written = format_rfc3339(sys_seconds(seconds(since_epoch)));
  const std::time_t time = since_epoch;
  std::tm broken = {};
  gmtime_r(&time, &broken);
  std::array<char, 64> theirs = {};
  std::snprintf(theirs.data(), theirs.size(), "%04d-%02d-%02dT%02d:%02d:%02dZ",
                broken.tm_year + 1900, broken.tm_mon + 1, broken.tm_mday, broken.tm_hour,
                broken.tm_min, broken.tm_sec);
  require(written == theirs.data(), "any second is written as by the C library");
}

}  // namespace

void check_rfc3339(std::string_view input) {
  check_text(input);
  check_number(number_from(input));
}

}  // namespace execcred::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/rfc3339.hpp>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

struct Case {
  std::string_view text;
  nanoseconds since_epoch;
};

TEST_CASE("parse_rfc3339: reads dates, fractions and zones") {
  constexpr seconds kNoon = 1782907200s;  // 2026-07-01T12:00:00Z
  const std::vector<Case> cases = {
      {"1970-01-01T00:00:00Z", 0s},
      {"2026-07-01T12:00:00Z", kNoon},
      {"2026-07-01T12:00:00+00:00", kNoon},
      {"2026-07-01T12:00:00-00:00", kNoon},
      {"2026-07-01T14:30:00+02:30", kNoon},
      {"2026-07-01T04:00:00-08:00", kNoon},
      {"2026-07-02T11:59:00+23:59", kNoon},
      {"2026-07-01T12:00:00.5Z", kNoon + 500ms},
      {"2026-07-01T12:00:00.000000001Z", kNoon + 1ns},
      {"2026-07-01T12:00:00.1234567899999999999999999999Z", kNoon + 123456789ns},
      {"2024-02-29T00:00:00Z", 1709164800s},
      {"2000-02-29T00:00:00Z", 951782400s},
      {"1969-12-31T23:59:59Z", -1s},
      {"1678-01-01T00:00:00+23:59", seconds(-9214560000 - 86340)},
      {"2261-12-31T23:59:59-23:59", seconds(9214646399 + 86340)},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const Result<TimePoint> time = parse_rfc3339(c.text);
    REQUIRE(time);
    CHECK(time->time_since_epoch() == c.since_epoch);
  }
}

TEST_CASE("parse_rfc3339: refuses all other formats") {
  for (const std::string_view text : {
           std::string_view(""),
           std::string_view("2026-07-01 12:00:00Z"),
           std::string_view("2026-07-01T12:00:00"),
           std::string_view("2026-07-01T12:00:00+0530"),
           std::string_view("2026-07-01T12:00:00+05"),
           std::string_view("2026-07-01T12:00:00+5:30"),
           std::string_view("2026-07-01T12:00:00+24:00"),
           std::string_view("2026-07-01T12:00:00+00:60"),
           std::string_view("2026-07-01T12:00Z"),
           std::string_view("2026-07-01"),
           std::string_view("1782907200"),
           std::string_view("2026-7-1T12:00:00Z"),
           std::string_view("2026-07-01T1:00:00Z"),
           std::string_view("2026-07-01T12:00:00,5Z"),
           std::string_view("2026-07-01T12:00:00.Z"),
           std::string_view("2026-07-01T12:00:00.5"),
           std::string_view("2026-00-01T12:00:00Z"),
           std::string_view("2026-13-01T12:00:00Z"),
           std::string_view("2026-07-00T12:00:00Z"),
           std::string_view("2026-07-32T12:00:00Z"),
           std::string_view("2026-02-29T12:00:00Z"),
           std::string_view("2100-02-29T12:00:00Z"),
           std::string_view("2026-04-31T12:00:00Z"),
           std::string_view("2026-07-01T24:00:00Z"),
           std::string_view("2026-07-01T12:60:00Z"),
           std::string_view("2026-07-01T12:00:60Z"),
           std::string_view(" 2026-07-01T12:00:00Z"),
           std::string_view("2026-07-01T12:00:00Z "),
           std::string_view("2026-07-01T12:00:00Z\n"),
           std::string_view("2026-07-01T12:00:00ZZ"),
           std::string_view("2026-07-01T12:00:00Z\0", 21),
           std::string_view("+2026-07-01T12:00:00Z"),
           std::string_view("-026-07-01T12:00:00Z"),
           std::string_view("2026-07-01T12:00:-1Z"),
           std::string_view("2026-07-01T12:00:00\u2212"
                            "08:00"),
           std::string_view("12026-07-01T12:00:00Z"),
       }) {
    CAPTURE(text);
    test::check_fails(parse_rfc3339(text), Error::Kind::configuration, "is no RFC 3339 time");
  }
}

TEST_CASE("parse_rfc3339: 't' and 'z' in lower case, and years before a TimePoint") {
  CHECK(parse_rfc3339("2026-07-01t12:00:00z").value() ==
        parse_rfc3339("2026-07-01T12:00:00Z").value());
  for (const std::string_view text :
       {"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1677-12-31T23:59:59Z"}) {
    CAPTURE(text);
    CHECK(parse_rfc3339(text).value() == parse_rfc3339("1678-01-01T00:00:00Z").value());
  }
}

TEST_CASE("format_rfc3339: whole seconds in UTC, four digits for the year") {
  CHECK(format_rfc3339(sys_seconds(0s)) == "1970-01-01T00:00:00Z");
  CHECK(format_rfc3339(sys_seconds(1782907200s)) == "2026-07-01T12:00:00Z");
  CHECK(format_rfc3339(sys_seconds(-1s)) == "1969-12-31T23:59:59Z");
  CHECK(format_rfc3339(sys_seconds(253402300799s)) == "9999-12-31T23:59:59Z");
  CHECK(format_rfc3339(sys_seconds(-62167219200s)) == "0000-01-01T00:00:00Z");
}

TEST_CASE("parse_rfc3339: a time that TimePoint cannot hold becomes the last day of 2261") {
  for (const std::string_view text :
       {"2262-01-01T00:00:00Z", "2264-02-29T12:00:00Z", "9999-12-31T23:59:59Z"}) {
    CAPTURE(text);
    const Result<TimePoint> time = parse_rfc3339(text);
    REQUIRE(time);
    CHECK(format_rfc3339(std::chrono::floor<seconds>(*time)) == "2261-12-31T00:00:00Z");
  }
  CHECK_FALSE(parse_rfc3339("2263-02-29T12:00:00Z"));
}

TEST_CASE("format_rfc3339: writes what parse_rfc3339 reads, on every day of 400 years") {
  for (std::int64_t day = -40000; day < 106097; ++day) {
    const sys_seconds time(seconds(day * 86400 + (day % 86400 + 86400) % 86400));
    const Result<TimePoint> parsed = parse_rfc3339(format_rfc3339(time));
    REQUIRE(parsed);
    REQUIRE(*parsed == time);
  }
}

}  // namespace
}  // namespace execcred

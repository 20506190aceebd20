// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/duration.hpp>

#include <array>
#include <cstdint>
#include <limits>

namespace execcred {
namespace {

using namespace std::chrono_literals;

struct Case {
  std::string_view text;
  Duration duration;
};

TEST_CASE("parse_duration: reads what Go's time.ParseDuration reads") {
  constexpr std::array<Case, 12> kCases = {{{"8s", 8s},
                                            {"1h30m", 90min},
                                            {"1.5h", 90min},
                                            {"0.5s", 500ms},
                                            {".5s", 500ms},
                                            {"1.s", 1s},
                                            {"100ms", 100ms},
                                            {"7us", 7us},
                                            {"7\u00b5s", 7us},
                                            {"+5s", 5s},
                                            {"-5s", -5s},
                                            {"0", 0s}}};
  for (const Case& c : kCases) {
    CAPTURE(c.text);
    const Result<Duration> parsed = parse_duration(c.text);
    REQUIRE(parsed);
    CHECK(*parsed == c.duration);
  }
}

TEST_CASE("parse_duration: the limits, and fractions to the same nanosecond as Go") {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  struct Exact {
    std::string_view text;
    std::int64_t nanoseconds;
  };
  for (const Exact& c :
       {Exact{"9223372036854775807ns", kMost}, Exact{"9223372036854775800ns7ns", kMost},
        Exact{"2562047h47m16.854775807s", kMost}, Exact{"-9223372036854775807ns", -kMost},
        Exact{"-9223372036854775808ns", -kMost - 1}, Exact{"-2562047h47m16.854775808s", -kMost - 1},
        Exact{"0.3333333333333333333h", 1'200'000'000'000},
        Exact{"9007199254.740993ms", 9'007'199'254'740'993},
        Exact{"0.100000000000000000000h", 360'000'000'000},
        Exact{"0.9223372036854775807m", 55'340'232'221}}) {
    CAPTURE(c.text);
    const Result<Duration> parsed = parse_duration(c.text);
    REQUIRE(parsed);
    CHECK(parsed->count() == c.nanoseconds);
    CHECK(*parse_duration(format_duration(*parsed)) == *parsed);
  }
  for (const std::string_view text :
       {"9223372036854775808ns", "9223372036854775807ns1ns", "-9223372036854775809ns",
        "-9223372036854775808ns1ns", "9223372036854775808ns9223372036854775808ns",
        "18446744073709551616ns", "2562047h47m16.854775808s"}) {
    CAPTURE(text);
    test::check_fails(parse_duration(text), Error::Kind::configuration, "is no duration");
  }
}

TEST_CASE("parse_duration: refuses what Go refuses") {
  for (const std::string_view text : {"", "5", "s", "5x", "5 s", "5s ", ".s", "1e3s", "5S", "--5s",
                                      "9999999999h", "0x5s", "5s5", "-", "+"}) {
    CAPTURE(text);
    test::check_fails(parse_duration(text), Error::Kind::configuration, "is no duration");
  }
}

TEST_CASE("format_duration: writes what parse_duration reads") {
  for (const Duration duration : {Duration(8s), Duration(10min), Duration(90min), Duration(1500ms),
                                  Duration(0s), Duration(-5s), Duration(1ns)}) {
    CAPTURE(format_duration(duration));
    CHECK(*parse_duration(format_duration(duration)) == duration);
  }
  CHECK(format_duration(10min) == "10m");
  CHECK(format_duration(90min) == "1h30m");
}

}  // namespace
}  // namespace execcred

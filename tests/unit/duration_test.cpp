// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/duration.hpp>

#include <array>

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

TEST_CASE("parse_duration: refuses what Go refuses") {
  for (const std::string_view text : {"", "5", "s", "5x", "5 s", "5s ", ".s", "1e3s", "5S", "--5s",
                                      "9999999999h", "0x5s", "5s5", "-", "+"}) {
    CAPTURE(text);
    const Result<Duration> parsed = parse_duration(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == Error::Kind::configuration);
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

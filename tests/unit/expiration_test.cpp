// SPDX-License-Identifier: Apache-2.0
// The expiration time that execcred reports for a credential.
#include "expect.hpp"
#include "support/seed.hpp"

#include <doctest/doctest.h>
#include <execcred/base/rfc3339.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <algorithm>
#include <array>
#include <random>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using std::chrono::ceil;
using std::chrono::floor;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using test::check_fails;

const TimePoint kNow = *parse_rfc3339("2026-07-01T12:00:00Z");

// The lifetime claimed at noon, in seconds.
std::int64_t claimed(Duration remaining, Duration max_age, bool is_bounded) {
  const Result<sys_seconds> end = claimed_expiration(kNow + remaining, kNow, max_age, is_bounded);
  REQUIRE(end);
  return (*end - floor<seconds>(kNow)).count();
}

TEST_CASE("claimed_expiration: the margin is a tenth of the remaining time, at most 30 s") {
  struct Case {
    Duration remaining;
    std::int64_t claimed;
  };
  for (const Case& c : std::array<Case, 11>{{{1h, 3570},
                                             {300s, 270},
                                             {310s, 280},
                                             {299s, 269},
                                             {100s, 90},
                                             {10s, 9},
                                             {5s, 4},
                                             {2s, 1},
                                             {1s, 0},
                                             {1ns, 0},
                                             {24h * 365, 31'536'000 - 30}}}) {
    CAPTURE(c.remaining.count());
    CHECK(claimed(c.remaining, 10min, false) == c.claimed);
    CHECK(claimed(c.remaining, 10min, true) == std::min<std::int64_t>(c.claimed, 600));
  }
}

TEST_CASE("claimed_expiration: a credential without an end gets exactly now plus max-age") {
  for (const bool is_bounded : {false, true}) {
    for (const Duration max_age :
         {Duration(1s), Duration(90s), Duration(10min), Duration(87600h)}) {
      CAPTURE(max_age.count());
      CHECK(*claimed_expiration(std::nullopt, kNow, max_age, is_bounded) == kNow + max_age);
    }
    CHECK(*claimed_expiration(std::nullopt, kNow + 600ms, 1500ms, is_bounded) == kNow + 2s);
    CHECK(*claimed_expiration(std::nullopt, kNow + 400ms, 1500ms, is_bounded) == kNow + 1s);
    // The longest possible max-age is beyond the range of TimePoint, but it gives a valid time.
    const Result<sys_seconds> farthest =
        claimed_expiration(std::nullopt, kNow, Duration::max(), is_bounded);
    REQUIRE(farthest);
    CHECK(*farthest == floor<seconds>(kNow) + floor<seconds>(Duration::max()));
  }
}

TEST_CASE("claimed_expiration: an expired credential is an error that says when it expired") {
  for (const Duration ago : {Duration(0s), Duration(1ns), Duration(1s), Duration(10 * 8760h)}) {
    CAPTURE(ago.count());
    for (const bool is_bounded : {false, true}) {
      check_fails(claimed_expiration(kNow - ago, kNow, 10min, is_bounded),
                  Error::Kind::no_credential, format_rfc3339(floor<seconds>(kNow - ago)));
    }
  }
}

TEST_CASE("claimed_expiration: the rules hold for any now, end and max-age") {
  std::mt19937_64 random(test::seed());
  const auto any = [&random](Duration low, Duration high) {
    return Duration(std::uniform_int_distribution<std::int64_t>(low.count(), high.count())(random));
  };
  for (int i = 0; i < 200'000; ++i) {
    // Lifetimes of all magnitudes, from a nanosecond to a century.
    const Duration longest = Duration(std::int64_t{1} << (random() % 62));
    const TimePoint now = kNow + any(-24h, 24h);
    const Duration remaining = any(1ns, longest);
    const Duration max_age = std::max<Duration>(1s, any(1ns, longest));
    CAPTURE(now.time_since_epoch().count());
    CAPTURE(remaining.count());
    CAPTURE(max_age.count());
    if (remaining > TimePoint::max() - now) continue;

    const TimePoint end = now + remaining;
    const Duration margin = std::min<Duration>(30s, remaining / 10);
    const Result<sys_seconds> free = claimed_expiration(end, now, max_age, false);
    const Result<sys_seconds> bound = claimed_expiration(end, now, max_age, true);
    REQUIRE(free);
    REQUIRE(bound);
    // Never in the past, and never later than the margin allows, except when rounded up to now.
    REQUIRE(*free >= now);
    REQUIRE(*bound >= now);
    REQUIRE(*free == std::max(floor<seconds>(end - margin), ceil<seconds>(now)));
    REQUIRE(*bound <= *free);
    if (remaining > 2s) REQUIRE(*free < end);
    const bool fits = max_age < TimePoint::max() - now;
    if (fits)
      REQUIRE(*bound ==
              std::min(*free, std::max(floor<seconds>(now + max_age), ceil<seconds>(now))));
    if (fits) REQUIRE(*bound <= std::max<TimePoint>(now + max_age, ceil<seconds>(now)));
    const Result<sys_seconds> endless = claimed_expiration(std::nullopt, now, max_age, i % 2 == 0);
    REQUIRE(endless);
    if (fits) REQUIRE(*endless == floor<seconds>(now + max_age));
    REQUIRE(*endless >= now);
  }
}

}  // namespace
}  // namespace execcred

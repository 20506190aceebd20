// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <algorithm>
#include <map>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::down;
using test::refused;

const TimePoint kNow(std::chrono::sys_days(std::chrono::year(2026) / 7 / 1));
const CacheTimes kTimes;

TEST_CASE(
    "refresh_window: a fifth of the lifetime, at most 5 minutes, plus up to 20 %, within bounds") {
  struct Case {
    Duration lifetime;
    std::optional<Duration> before;
    Duration least, most;
  };
  for (const Case& c : std::vector<Case>{{1h, {}, 5min, 6min},
                                         {10min, {}, 2min, 144s},
                                         {24h, {}, 5min, 6min},
                                         {50s, {}, 10s, 12s},
                                         {1h, 10min, 10min, 12min},
                                         {1h, 1h, 54min, 54min},
                                         {1h, 300h, 54min, 54min},
                                         {1h, 0s, 0s, 0s},
                                         {1h, -5s, 0s, 0s},
                                         {1h, Duration::max(), 54min, 54min},
                                         {1ns, {}, 0s, 1ns}}) {
    CAPTURE(c.lifetime.count());
    for (int i = 0; i < 100; ++i) {
      const Duration window =
          refresh_window(c.lifetime, c.before, hash_key("key-" + std::to_string(i)));
      CHECK(window >= c.least);
      CHECK(window <= c.most);
    }
  }
}

TEST_CASE("1,000 keys of one moment are refreshed over a minute, few in any second" *
          doctest::description("promise 11")) {
  std::map<std::int64_t, int> in_second;
  Duration least = Duration::max();
  Duration most = Duration::zero();
  for (int i = 0; i < 1000; ++i) {
    const std::string key =
        test::sample_key("https://spoke-" + std::to_string(i) + ".example.com").text();
    const Duration window = refresh_window(1h, {}, hash_key(key));
    CHECK(window == refresh_window(1h, {}, hash_key(key)));
    ++in_second[std::chrono::floor<std::chrono::seconds>(window).count()];
    least = std::min(least, window);
    most = std::max(most, window);
  }
  int peak = 0;
  for (const auto& [second, count] : in_second) peak = std::max(peak, count);
  MESSAGE("1,000 keys: at most " << peak << " refreshes in one second, over " << (most - least) / 1s
                                 << " s");
  CHECK(most - least >= 58s);
  CHECK(peak <= 40);
}

TEST_CASE("is_valid: the clock may be ten years off, and no expired credential is served" *
          doctest::description("promise 13")) {
  constexpr auto kTenYears = 87'660h;
  struct Case {
    Duration created, expires;  // from now
    bool is_valid;
  };
  int expired = 0;
  int served = 0;
  for (const Case& c : std::vector<Case>{{0s, 1h, true},
                                         {-59min, 1min, true},
                                         {-1h, 0s, false},
                                         {-1h, -1ns, false},
                                         {-1h, 1ns, true},
                                         {1s, 1h, true},
                                         {3s, 1h, false},
                                         {kTenYears, kTenYears + 1h, false},
                                         {-kTenYears, -kTenYears + 1h, false},
                                         {-kTenYears, 1h, false},
                                         {0s, kTenYears, false},
                                         {-1h, 23h, true},
                                         {-1h, 23h + 1ns, false}}) {
    const CachedCredential entry{.created = kNow + c.created, .expires = kNow + c.expires};
    CAPTURE(c.created.count());
    CAPTURE(c.expires.count());
    CHECK(is_valid(entry, kNow, kTimes) == c.is_valid);
    expired += c.is_valid ? 0 : 1;
    served += !c.is_valid && is_valid(entry, kNow, kTimes) ? 1 : 0;
  }
  MESSAGE("served although its times are wrong or past: " << served << " of " << expired);
}

TEST_CASE("next_failure: windows double only for a provider that is unavailable") {
  std::optional<CachedFailure> failure;
  TimePoint now = kNow;
  for (const Duration window : {2s, 4s, 8s, 16s, 32s, 64s, 64s, 64s}) {
    failure = next_failure(failure, down(), {}, now, kTimes);
    CHECK(failure->until - now == window);
    now = failure->until + 1s;
  }
  CHECK(next_failure(failure, down(), {}, failure->until + 65s, kTimes).until ==
        failure->until + 67s);
  CHECK(next_failure(failure, down(), {}, kNow - 87'660h, kTimes).until == kNow - 87'660h + 2s);
  for (int i = 0; i < 3; ++i) {
    failure = next_failure(failure, refused(), {}, now, kTimes);
    CHECK(failure->until - now == 10s);
  }
  CHECK(next_failure(failure, down(), {}, now, kTimes).until - now == 2s);
}

TEST_CASE("next_failure: Retry-After lengthens a window, to 5 minutes at most") {
  struct Case {
    Error error;
    Duration asked, window;
  };
  for (const Case& c : std::vector<Case>{{down(), 1s, 2s},
                                         {down(), 30s, 30s},
                                         {down(), 24h, 5min},
                                         {down(), Duration::max(), 5min},
                                         {refused(), 1min, 1min},
                                         {refused(), 0s, 10s}}) {
    const CachedFailure failure = next_failure({}, c.error, c.asked, kNow, kTimes);
    CHECK(failure.until - kNow == c.window);
    CHECK(is_pending(failure, kNow));
    CHECK(is_pending(failure, failure.until - 1ns));
    CHECK_FALSE(is_pending(failure, failure.until));
    CHECK_FALSE(is_pending(failure, kNow - 1h));
  }
  CHECK_FALSE(is_pending({.created = kNow, .until = kNow + 6min}, kNow));
}

TEST_CASE("is_suspect: after ten seconds, and after a failed attempt at twice the age") {
  CachedCredential entry{.created = kNow, .expires = kNow + 1h};
  CHECK_FALSE(is_suspect(entry, {}, kNow, kTimes));
  CHECK_FALSE(is_suspect(entry, {}, kNow + 10s - 1ns, kTimes));
  CHECK(is_suspect(entry, {}, kNow + 10s, kTimes));
  const CachedFailure failure{.created = kNow + 20s, .until = kNow + 22s};
  CHECK_FALSE(is_suspect(entry, failure, kNow + 21s, kTimes));
  CHECK_FALSE(is_suspect(entry, failure, kNow + 39s, kTimes));
  CHECK(is_suspect(entry, failure, kNow + 40s, kTimes));
  CHECK(is_suspect(entry, CachedFailure{.created = kNow - 1s, .until = kNow + 1h}, kNow + 10s,
                   kTimes));
  CHECK(is_suspect(entry, CachedFailure{.created = TimePoint::max(), .until = TimePoint::max()},
                   kNow + 10s, kTimes));
  entry.reask_after = 0s;
  CHECK_FALSE(is_suspect(entry, {}, kNow + 9s, kTimes));
  entry.reask_after = 40s;
  CHECK_FALSE(is_suspect(entry, {}, kNow + 39s, kTimes));
  CHECK(is_suspect(entry, {}, kNow + 40s, kTimes));
}

}  // namespace
}  // namespace execcred

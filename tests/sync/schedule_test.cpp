// SPDX-License-Identifier: Apache-2.0
#include "sync/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace execcred;
using namespace execcred::sync;
using namespace std::chrono_literals;

namespace {

const std::chrono::sys_seconds kStart{std::chrono::seconds(1'800'000'000)};

Duration renewed_after(std::string_view cluster, std::chrono::seconds lifetime, double share) {
  return renewal_of({.issued = kStart, .expires = kStart + lifetime}, {.share = share},
                    spread_of(cluster)) -
         TimePoint(kStart);
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("a renewal is due at its share of the lifetime, up to a tenth earlier or later") {
  std::vector<Duration> all;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(renewed_after("fleet/spoke-" + std::to_string(i), 1h, 2.0 / 3));
  }
  const auto [first, last] = std::minmax_element(all.begin(), all.end());
  CHECK(*first >= 36min);
  CHECK(*last <= 44min);
  CHECK(*last - *first > 7min);
  CHECK(renewed_after("fleet/a", 1h, 0.5) == renewed_after("fleet/a", 1h, 0.5));
}

TEST_CASE("a renewal is due before the credential expires, also with the greatest share") {
  for (int i = 0; i < 100; ++i) {
    CHECK(renewed_after("fleet/" + std::to_string(i), 100s, 0.99) <= 99s);
  }
}

TEST_CASE("a credential without an expiry is renewed after about ten minutes") {
  const TimePoint next = renewal_of({.issued = kStart}, {}, spread_of("fleet/a"));
  CHECK(next >= kStart + 9min);
  CHECK(next <= kStart + 11min);
}

TEST_CASE("after the same credential again, the next request is at half of the remaining time") {
  CHECK(next_question(kStart + 60s, kStart) == TimePoint(kStart + 30s));
  CHECK(next_question(kStart + 1s, kStart) == TimePoint(kStart + 1s));
  CHECK(next_question(kStart - 5s, kStart) == TimePoint(kStart + 1s));
}

TEST_CASE("pauses after failures grow, and are shorter if the credential expires soon") {
  const auto pause = [](std::size_t failures, std::optional<std::chrono::sys_seconds> expires,
                        double share = 1) {
    return next_attempt(failures, expires, kStart, share) - TimePoint(kStart);
  };
  CHECK(pause(1, std::nullopt) == 2s);
  CHECK(pause(1, std::nullopt, 0.5) == 1s);
  CHECK(pause(100, std::nullopt) == 5min);
  CHECK(pause(100, std::nullopt, 0.5) == 150s);
  CHECK(pause(100, kStart + 40s) == 10s);
  CHECK(pause(100, kStart - 40s) == 5min);
}

TEST_CASE("the pauses after failures of this machine are short, and longer for many clusters") {
  CHECK(longest_local_pause(0) == 10s);
  CHECK(longest_local_pause(200) == 10s);
  CHECK(longest_local_pause(1000) == 50s);
  CHECK(longest_local_pause(1'000'000) == 5min);
  CHECK(next_attempt(40, std::nullopt, kStart, 1, 10s) == TimePoint(kStart) + 10s);
  CHECK(next_attempt(1, std::nullopt, kStart, 0.5, 10s) == TimePoint(kStart) + 1s);
}

TEST_CASE("many renewals at once are limited to two and a half times the mean rate") {
  RenewalPace pace;
  pace.set_mean(4);
  TimePoint now = kStart;
  const auto begun = [&] {
    int count = 0;
    while (count < 1000 && pace.begin(now)) ++count;
    return count;
  };
  CHECK(begun() == 32);
  now += 2s;
  CHECK(begun() == 20);
  now += 1h;
  CHECK(begun() == 32);
  now -= 1h;
  CHECK(begun() == 0);
}

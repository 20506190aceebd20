// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/base/pause.hpp>

#include <sys/time.h>

#include <csignal>
#include <set>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST_CASE("pause: lasts until its end, and returns at once if the end is past") {
  const auto start = steady_clock::now();
  pause_for(2ms);
  CHECK(steady_clock::now() - start >= 2ms);
  const auto end = steady_clock::now() + 2ms;
  pause_until(end);
  CHECK(steady_clock::now() >= end);
  pause_for(0s);
  pause_for(-1h);
  pause_until(steady_clock::time_point());
  pause_until(steady_clock::time_point::min());
}

volatile std::sig_atomic_t signals = 0;

TEST_CASE("pause: a signal does not shorten it") {
  struct sigaction action = {};
  action.sa_handler = [](int) { signals = signals + 1; };
  struct sigaction before = {};
  REQUIRE(sigaction(SIGALRM, &action, &before) == 0);
  const itimerval soon = {.it_interval = {.tv_sec = 0, .tv_usec = 1000},
                          .it_value = {.tv_sec = 0, .tv_usec = 1000}};
  const itimerval never = {};
  REQUIRE(setitimer(ITIMER_REAL, &soon, nullptr) == 0);
  const auto end = steady_clock::now() + 20ms;
  pause_until(end);
  CHECK(steady_clock::now() >= end);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  CHECK(signals > 0);
}

TEST_CASE("jittered: between half and all of the pause, and not always the same") {
  for (const Duration pause :
       {Duration(1), Duration(2), Duration(1ms), Duration(2s), Duration(1h), Duration::max()}) {
    CAPTURE(pause.count());
    for (int i = 0; i < 100; ++i) {
      const Duration part = jittered(pause);
      CHECK(part <= pause);
      CHECK(part >= pause - pause / 2);
    }
  }
  CHECK(jittered(Duration::zero()) == Duration::zero());
  std::set<Duration> parts;
  for (int i = 0; i < 100; ++i) parts.insert(jittered(1h));
  CHECK(parts.size() > 90);
}

}  // namespace
}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// A process killed with SIGKILL at any system call leaves a cache that works.
#include "fixture.hpp"
#include "support/processes.hpp"

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::CacheFixture;
using test::is_killed_at;

struct Scene {
  const char* name;
  std::function<void(CacheFixture&)> prepare;
};

std::vector<Scene> scenes() {
  return {{"cold", [](CacheFixture&) {}},
          {"a hit",
           [](CacheFixture& cache) {
             cache.token();
             cache.client = "client-2";
           }},
          {"refresh",
           [](CacheFixture& cache) {
             cache.token();
             cache.clock.time += 56min;
           }},
          {"asked for again",
           [](CacheFixture& cache) {
             cache.token();
             cache.clock.time += 1min;
           }},
          {"failing", [](CacheFixture& cache) { cache.provider.error = test::down(); }},
          {"refused when asked for again", [](CacheFixture& cache) {
             cache.token();
             cache.clock.time += 1min;
             cache.provider.error = test::refused();
           }}};
}

TEST_CASE("killed at any system call: the next run has a credential, and no file is torn" *
          doctest::description("promises 8, 24")) {
  int points = 0;
  for (const Scene& scene : scenes()) {
    CAPTURE(scene.name);
    int stop = 1;
    for (bool is_killed = true; is_killed; ++stop) {
      CacheFixture cache;
      scene.prepare(cache);
      is_killed = is_killed_at(stop, [&] { cache.token(); });
      CAPTURE(stop);
      CHECK_FALSE(cache.has_torn_file());
      cache.provider.error.reset();
      cache.clock.time += 15s;
      CHECK(cache.token().starts_with("token-"));
      // A third run finds the result of the second.
      cache.client = "client-3";
      const int calls = cache.provider.calls;
      CHECK(cache.token().starts_with("token-"));
      CHECK(cache.provider.calls == calls);
      CHECK(cache.paused == 0s);
    }
    points += stop - 2;
  }
  MESSAGE("killed at " << points << " points");
  CHECK(points > 100);
}

}  // namespace
}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// Hundreds of processes that start at once, and how many calls the provider gets.
#include "fixture.hpp"
#include "support/processes.hpp"

#include <algorithm>
#include <cstdlib>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using test::run_at_once;
using test::Tally;
using test::TempDir;

constexpr int kServed = 0;
constexpr int kRefused = 1;
constexpr int kUnavailable = 3;

// EXECCRED_STORM=1000 sets the size of the published figures.
int storm_size() {
  const char* text = std::getenv("EXECCRED_STORM");
  const long size = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  return size > 0 && size < 100'000 ? static_cast<int>(size) : 200;
}

struct Storm {
  TempDir dir;
  Tally arrived{dir / "arrived"};
  Tally calls{dir / "calls"};
  CacheTimes times = {.retry_patience = 0s, .longest_lock_wait = 60s};

  // The run of one process. The provider answers only when all processes have started.
  int run(int number, int size, const std::function<Result<Issued>(int call)>& provider) {
    arrived.add();
    const SystemClock clock;
    const Environment environment;
    CacheOptions options{.directory = (dir / "cache").native(), .times = times};
    options.client = [number] { return std::optional("client-" + std::to_string(number)); };
    const CredentialCache cache(std::move(options), {.clock = clock, .environment = environment});
    const Result<Credential> credential =
        cache.get(test::sample_key(), [&](CallContext&) -> Result<Issued> {
          calls.add();
          if (!arrived.wait_for(static_cast<std::size_t>(size))) _exit(98);
          return provider(static_cast<int>(calls.count()));
        });
    if (!credential) return exit_code(credential.error().kind);
    return credential->token.reveal() == "the-token" ? kServed : 97;
  }
};

Result<Issued> good() { return test::fresh_token("the-token", SystemClock().now() + 1h); }

TEST_CASE("a storm on a cold key: one call, and every process is served" *
          doctest::description("promise 2")) {
  Storm storm;
  const int size = storm_size();
  const std::vector<int> codes = run_at_once(size, [&](int number) {
    return storm.run(number, size, [](int) { return Result(good()); });
  });
  CHECK(std::count(codes.begin(), codes.end(), kServed) == size);
  CHECK(storm.calls.count() == 1);
  MESSAGE(size << " processes at once on a cold key: " << storm.calls.count() << " call");
}

TEST_CASE("a storm on a failing provider: one call per window" *
          doctest::description("promise 3")) {
  for (const auto& [error, code] : std::vector<std::pair<Error, int>>{
           {test::refused(), kRefused}, {test::down(), kUnavailable}}) {
    Storm storm;
    storm.times.first_window = 1h;
    storm.times.permanent_window = 1h;
    const int size = storm_size();
    const std::vector<int> codes = run_at_once(size, [&, &error = error](int number) {
      return storm.run(number, size, [&](int) -> Result<Issued> { return error; });
    });
    CHECK(std::count(codes.begin(), codes.end(), code) == size);
    CHECK(storm.calls.count() == 1);
    MESSAGE(size << " processes at once, the provider fails: " << storm.calls.count() << " call");
  }
}

TEST_CASE("a storm on a provider that recovers: each window costs one call, and all are served") {
  Storm storm;
  storm.times.first_window = 200ms;
  storm.times.retry_patience = 1min;
  constexpr int kSize = 50;
  const auto start = steady_clock::now();
  const std::vector<int> codes = run_at_once(kSize, [&](int number) {
    return storm.run(number, kSize, [](int call) -> Result<Issued> {
      if (call < 4) return test::down(true);
      return good();
    });
  });
  CHECK(std::count(codes.begin(), codes.end(), kServed) == kSize);
  CHECK(storm.calls.count() == 4);
  CHECK(steady_clock::now() - start >= 200ms + 400ms + 800ms);
}

TEST_CASE("a storm in the refresh window: one call, and no process waits for it") {
  Storm storm;
  const int size = storm_size();
  REQUIRE(storm.run(0, 1, [](int) { return Result(good()); }) == kServed);
  const Environment environment;
  test::SetClock clock;
  clock.time = SystemClock().now() + 56min;
  const Tally done(storm.dir / "done");
  const std::vector<int> codes = run_at_once(size, [&](int number) {
    CacheOptions options{.directory = (storm.dir / "cache").native(),
                         .client_detail = std::to_string(number)};
    options.pause = [](Duration) { _exit(96); };
    const CredentialCache cache(std::move(options), {.clock = clock, .environment = environment});
    const auto ask = [&](CallContext&) -> Result<Issued> {
      storm.calls.add();
      // All others have their answer while this one asks.
      if (!done.wait_for(static_cast<std::size_t>(size) - 1)) _exit(98);
      return good();
    };
    const Result<Credential> credential = cache.get(test::sample_key(), ask);
    done.add();
    return credential ? kServed : exit_code(credential.error().kind);
  });
  CHECK(std::count(codes.begin(), codes.end(), kServed) == size);
  CHECK(storm.calls.count() == 2);
}

TEST_CASE("runs with different keys never wait for each other") {
  const TempDir dir;
  const Tally asking(dir / "asking");
  constexpr int kKeys = 100;
  const std::vector<int> codes = run_at_once(kKeys, [&](int number) {
    const SystemClock clock;
    const Environment environment;
    CacheOptions options{.directory = (dir / "cache").native()};
    options.pause = [](Duration) { _exit(96); };
    const CredentialCache cache(std::move(options), {.clock = clock, .environment = environment});
    const auto ask = [&](CallContext&) -> Result<Issued> {
      // All are within their calls at the same time.
      asking.add();
      if (!asking.wait_for(kKeys)) _exit(98);
      return good();
    };
    return cache.get(test::sample_key(std::to_string(number)), ask) ? kServed : kUnavailable;
  });
  CHECK(std::count(codes.begin(), codes.end(), kServed) == kKeys);
}

}  // namespace
}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <execcred/cache/directory.hpp>

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::CacheFixture;
using test::check_fails;
using test::down;
using test::refused;

TEST_CASE("get: the second answer comes from the cache, with the expiry of the first") {
  CacheFixture cache;
  const TimePoint end = cache.clock.time + 1h;
  CHECK(cache.token() == "token-1");
  cache.clock.time += 9s;
  const Result<Credential> hit = cache.get();
  REQUIRE(hit);
  CHECK(hit->token.reveal() == "token-1");
  CHECK(hit->expires_at == end);
  CHECK(cache.provider.calls == 1);
}

TEST_CASE("get: a run's notes say whose credential it is, and whether it was cached") {
  CacheFixture cache;
  for (const bool is_cached : {false, true}) {
    RunNotes notes;
    cache.run.notes = &notes;
    REQUIRE(cache.get());
    CHECK(notes.identity == "controller");
    CHECK(notes.is_cached == is_cached);
  }
}

TEST_CASE("get: a credential without an expiry is kept for ten minutes") {
  CacheFixture cache;
  const CredentialCache kept(cache.options, cache.run);
  int calls = 0;
  const auto ask = [&](CallContext&) -> Result<Issued> {
    ++calls;
    return test::fresh_token("t", std::nullopt);
  };
  const Result<Credential> first = kept.get(test::sample_key(), ask);
  REQUIRE(first);
  CHECK_FALSE(first->expires_at);
  const Result<Credential> hit = kept.get(test::sample_key(), ask);
  REQUIRE(hit);
  CHECK_FALSE(hit->expires_at);
  cache.clock.time += 10min;
  REQUIRE(kept.get(test::sample_key(), ask));
  CHECK(calls == 2);
}

TEST_CASE("get: a credential is kept for a day at most, and an expired one is not kept") {
  CacheFixture cache;
  cache.provider.lifetime = 1000h;
  CHECK(cache.token() == "token-1");
  cache.client = "client-2";
  const Result<Credential> hit = cache.get();
  REQUIRE(hit);
  CHECK(hit->expires_at == cache.clock.time + 24h);
  cache.clock.time += 24h;
  cache.provider.lifetime = 0s;
  CHECK(cache.token() == "token-2");
  CHECK(cache.token() == "token-3");
}

TEST_CASE("get: the run that stores a credential gets the same end as one that reads it") {
  CacheFixture cache;
  for (const auto lifetime : {1h, 1000h}) {
    cache.provider.lifetime = lifetime;
    cache.client = "client-1";
    const CacheKey key = test::sample_key(std::to_string(lifetime.count()));
    const Result<Credential> first = cache.get(key);
    REQUIRE(first);
    cache.client = "client-2";
    const Result<Credential> hit = cache.get(key);
    REQUIRE(hit);
    CHECK(hit->token.reveal() == first->token.reveal());
    CHECK(hit->expires_at == first->expires_at);
    CHECK(first->expires_at == cache.clock.time + std::min(lifetime, 24h));
  }
}

TEST_CASE("get: an entry is served before the refresh window, and refreshed within it") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.clock.time += 54min;
  cache.client = "client-2";
  CHECK(cache.token() == "token-1");
  cache.clock.time += 1min;
  CHECK(cache.token() == "token-2");
  CHECK(cache.token() == "token-2");
}

TEST_CASE("get: --refresh-before sets the refresh window") {
  CacheFixture cache;
  cache.options.refresh_before = 30min;
  CHECK(cache.token() == "token-1");
  cache.clock.time += 23min;
  cache.client = "client-2";
  CHECK(cache.token() == "token-1");
  cache.clock.time += 7min;
  CHECK(cache.token() == "token-2");
}

TEST_CASE("get: a valid token survives a failed refresh, with one call per window" *
          doctest::description("promise 12")) {
  for (const Error& error : {down(), down(true), refused()}) {
    CacheFixture cache;
    CHECK(cache.token() == "token-1");
    cache.clock.time += 55min;
    cache.provider.error = error;
    constexpr int kWindows = 6;
    int served = 0;
    int asked = 0;
    for (; cache.provider.calls < 1 + kWindows; cache.clock.time += 100ms, ++asked) {
      cache.client = "client-" + std::to_string(asked);
      served += cache.token() == "token-1" ? 1 : 0;
    }
    CHECK(served == asked);
    MESSAGE("served while refreshes fail: " << served << " of " << asked);
    // 2 + 4 + 8 + 16 + 32 s, or 5 times 10 s.
    CHECK(asked == (error.kind == Error::Kind::unavailable ? 621 : 501));
    CHECK(cache.paused == 0s);
    cache.clock.time += 5min;
    CHECK(cache.token() == error.message);
  }
}

TEST_CASE("get: a permanent error is remembered for ten seconds, with its hint and its context") {
  CacheFixture cache;
  cache.provider.error = refused();
  check_fails(cache.get(), Error::Kind::no_credential, "invalid_grant");
  for (const Duration age : {0s, 1s, 8s}) {
    cache.clock.time += age;
    check_fails(cache.get(), Error::Kind::no_credential, "hint: mend it");
  }
  check_fails(cache.get(), Error::Kind::no_credential,
              "while remembering this from another run, for 1s more");
  CHECK(cache.provider.calls == 1);
  cache.clock.time += 1s;
  cache.provider.error.reset();
  CHECK(cache.token() == "token-2");
}

TEST_CASE("get: internal, configuration and local errors are not remembered") {
  CacheFixture cache;
  cache.provider.error = Error{.kind = Error::Kind::internal, .message = "a defect"};
  CHECK(cache.token() == "a defect");
  CHECK(cache.token() == "a defect");
  CHECK(cache.provider.calls == 2);
  cache.provider.error = Error{.kind = Error::Kind::configuration, .message = "no CA file"};
  CHECK(cache.token() == "no CA file");
  cache.provider.error = refused();
  cache.provider.error->is_local = true;
  CHECK(cache.token() == "invalid_grant");
  cache.provider.error.reset();
  CHECK(cache.token() == "token-5");
}

TEST_CASE("get: a temporary local error is not remembered, and not retried by the run") {
  CacheFixture cache;
  cache.provider.error = down(true);
  cache.provider.error->is_local = true;
  check_fails(cache.get(), Error::Kind::unavailable, "the provider is down");
  CHECK(cache.provider.calls == 1);
  CHECK_FALSE(std::filesystem::exists(cache.file(".failure")));
  cache.provider.error.reset();
  CHECK(cache.token() == "token-2");
  CHECK(cache.paused == 0s);
}

TEST_CASE("get: after a spent token neither this run nor the next one calls again") {
  CacheFixture cache;
  cache.provider.error = down(true);
  cache.provider.is_spent = true;
  check_fails(cache.get(), Error::Kind::unavailable, "the provider is down");
  check_fails(cache.get(), Error::Kind::unavailable, "remembering this from another run, for 2s");
  CHECK(cache.provider.calls == 1);
  CHECK(cache.paused == 0s);
  cache.clock.time += 2s;
  cache.provider.error.reset();
  CHECK(cache.token() == "token-2");
}

TEST_CASE("get: a run that retries waits for the end of the window, within its limit") {
  CacheFixture cache;
  cache.provider.error = down(true);
  check_fails(cache.get(), Error::Kind::unavailable, "the provider is down");
  // One call at once and one after 2 s. The next window, of 4 s, is too long to wait for.
  CHECK(cache.provider.calls == 2);
  CHECK(cache.paused == 2s);
  check_fails(cache.get(), Error::Kind::unavailable, "remembering this from another run, for 4s");
  CHECK(cache.provider.calls == 2);
  cache.provider.error.reset();
  cache.clock.time += 2s;
  CHECK(cache.token() == "token-3");
  CHECK(cache.paused == 4s);
}

TEST_CASE("get: Retry-After holds for the next runs too") {
  CacheFixture cache;
  cache.provider.error = down(true);
  cache.provider.retry_after = 30s;
  CHECK(cache.token() == "the provider is down");
  cache.clock.time += 26s;
  CHECK(cache.token() == "the provider is down");
  CHECK(cache.provider.calls == 1);
  cache.clock.time += 4s;
  cache.provider.error.reset();
  CHECK(cache.token() == "token-2");
}

TEST_CASE("get: a success removes the remembered failure") {
  CacheFixture cache;
  cache.provider.error = down();
  CHECK(cache.token() == "the provider is down");
  cache.clock.time += 2s;
  cache.provider.error.reset();
  CHECK(cache.token() == "token-2");
  CHECK_FALSE(std::filesystem::exists(cache.file(".failure")));
}

TEST_CASE("get: with the cache, a call has a shorter deadline and one attempt") {
  CacheFixture cache;
  const auto start = std::chrono::steady_clock::now();
  cache.run.deadline = start + 9s;
  CHECK(cache.token() == "token-1");
  REQUIRE(cache.provider.seen.size() == 1);
  CHECK(cache.provider.seen[0].deadline <= start + 6s + (std::chrono::steady_clock::now() - start));
  CHECK(cache.provider.seen[0].deadline >= start + 5s);
  CHECK_FALSE(cache.provider.seen[0].may_retry);
  cache.options.no_cache = true;
  CHECK(cache.token() == "token-2");
  CHECK(cache.provider.seen[1].deadline == cache.run.deadline);
  CHECK(cache.provider.seen[1].may_retry);
}

TEST_CASE("get: a lock that is never given back costs its deadline, once" *
          doctest::description("promises 1, 24")) {
  CacheFixture cache;
  REQUIRE(CacheDirectory::open(cache.path().native(), cache.environment,
                               CacheDirectory::IfMissing::create));
  const FileDescriptor held(open(cache.file(".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(flock(held.get(), LOCK_EX | LOCK_NB) == 0);
  cache.options.times.longest_lock_wait = 1s;
  CHECK(cache.token() == "token-1");
  CHECK(cache.paused >= 900ms);
  CHECK(cache.paused <= 1100ms);
  CHECK(test::contains(cache.steps, "no lock after"));
  const Duration paused = cache.paused;
  CHECK(cache.token() == "token-1");
  CHECK(cache.paused == paused);

  // In the refresh window no process waits.
  cache.clock.time += 55min;
  CHECK(cache.token() == "token-1");
  CHECK(cache.paused == paused);

  // A failure is shared also without the lock.
  cache.clock.time += 5min;
  cache.provider.error = refused();
  CHECK(cache.token() == "invalid_grant");
  CHECK(cache.token() == "invalid_grant");
  CHECK(cache.provider.calls == 2);
}

TEST_CASE("get: the wait for a lock is bounded by the run's own deadline") {
  CacheFixture cache;
  REQUIRE(CacheDirectory::open(cache.path().native(), cache.environment,
                               CacheDirectory::IfMissing::create));
  const FileDescriptor held(open(cache.file(".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(flock(held.get(), LOCK_EX | LOCK_NB) == 0);
  cache.run.deadline = std::chrono::steady_clock::now() + 400ms;
  CHECK(cache.token() == "token-1");
  CHECK(cache.paused <= 400ms);
  cache.run.deadline = std::chrono::steady_clock::now() - 1s;
  CHECK(cache.token(test::sample_key("https://other.example.com")) == "token-2");
}

TEST_CASE("get: with the clock ten years off, only a valid credential is served" *
          doctest::description("promise 13")) {
  for (const Duration jump : {Duration(87'660h), Duration(-87'660h)}) {
    CAPTURE(jump.count());
    CacheFixture cache;
    cache.clock.time += jump;
    CHECK(cache.token() == "token-1");
    cache.clock.time -= jump;
    CHECK(cache.token() == "token-2");
    cache.client = "client-2";
    CHECK(cache.token() == "token-2");
    cache.clock.time += jump;
    CHECK(cache.token() == "token-3");
    cache.provider.error = refused();
    cache.clock.time -= jump;
    CHECK(cache.token() == "invalid_grant");
    cache.clock.time += jump;
    cache.provider.error.reset();
    CHECK(cache.token() == "token-3");
  }
}

}  // namespace
}  // namespace execcred

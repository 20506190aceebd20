// SPDX-License-Identifier: Apache-2.0
// If a client asks again for a credential, a server may have refused the one that it got.
#include "fixture.hpp"

#include <execcred/cache/client.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/cache/entry.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::CacheFixture;
using test::check_fails;
using test::down;
using test::refused;

TEST_CASE("a client that asks again gets a new token, so a revoked one is replaced" *
          doctest::description("promise 10")) {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.clock.time += 10s;
  CHECK(cache.token() == "token-2");
  CHECK(test::contains(cache.steps, "asked for again by the same client"));
  CHECK(cache.token() == "token-2");
  MESSAGE("a revoked token is replaced after 10 s, with " << cache.provider.calls - 1
                                                          << " more call");
}

TEST_CASE("an entry younger than ten seconds is not suspected to be revoked" *
          doctest::description("promise 10")) {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  for (int i = 0; i < 9; ++i, cache.clock.time += 1s) CHECK(cache.token() == "token-1");
  CHECK(cache.token() == "token-1");
}

TEST_CASE("other clients get the entry, once each") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.clock.time += 30min;
  for (int i = 0; i < 50; ++i) {
    cache.client = "other-" + std::to_string(i);
    CHECK(cache.token() == "token-1");
  }
  // All clients that were refused with it share the call of the first one.
  for (int i = 0; i < 50; ++i) {
    cache.client = "other-" + std::to_string(i);
    CHECK(cache.token() == "token-2");
  }
  CHECK(cache.provider.calls == 2);
}

TEST_CASE("clients that make only one request do not fill the directory") {
  CacheFixture cache;
  cache.provider.lifetime = 48h;
  cache.clock.time = SystemClock().now();  // like the files' own times
  const auto ask_as = [&cache](int client) {
    cache.client = "client of one request " + std::to_string(client);
    CHECK(cache.token() == "token-1");
  };
  const auto marks = [&cache] {
    const std::filesystem::directory_iterator files(cache.path());
    return std::count_if(begin(files), end(files),
                         [](const auto& file) { return file.path().extension() == ".seen"; });
  };
  int client = 0;
  while (client < 2000) ask_as(client++);
  CHECK(marks() == client);
  cache.clock.time += 11min;
  while (client < 8000 && marks() >= 2000) ask_as(client++);
  CHECK(marks() == 0);  // although the files are new: only the clock is ahead
}

TEST_CASE("requests of one client for other clusters do not count as asking again") {
  CacheFixture cache;
  for (int i = 0; i < 20; ++i, cache.clock.time += 15s) {
    cache.options.client_detail = "https://spoke-" + std::to_string(i) + ".example.com";
    CHECK(cache.token() == "token-1");
  }
}

TEST_CASE("a client without an identity never counts as asking again") {
  CacheFixture cache;
  cache.client.reset();
  for (int i = 0; i < 20; ++i, cache.clock.time += 1min) CHECK(cache.token() == "token-1");
}

TEST_CASE("a client that runs the plugin for every request costs a few calls an hour") {
  CacheFixture cache;
  for (Duration passed = {}; passed < 24h; passed += 1s, cache.clock.time += 1s) {
    REQUIRE(cache.is_served_newest());
  }
  MESSAGE("one request a second for a day, tokens of an hour: " << cache.provider.calls
                                                                << " calls");
  CHECK(cache.provider.calls <= 9 + 24 * 3);
}

TEST_CASE(
    "the age at which a revoked entry is suspected doubles each time, and falls in quiet hours" *
    doctest::description("promise 10")) {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  int expected = 1;
  for (const Duration age : {10s, 20s, 40s, 80s}) {
    cache.clock.time += age - 1ms;
    CHECK(cache.token() == "token-" + std::to_string(expected));
    cache.clock.time += 1ms;
    CHECK(cache.token() == "token-" + std::to_string(++expected));
  }
  for (int i = 0; i < 4; ++i) {
    cache.clock.time += 1h;
    CHECK(cache.token() == "token-" + std::to_string(++expected));
  }
  cache.clock.time += 10s;
  CHECK(cache.token() == "token-" + std::to_string(++expected));
}

TEST_CASE("a permanent error removes the entry for all clients") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.clock.time += 10s;
  cache.provider.error = refused();
  check_fails(cache.get(), Error::Kind::no_credential, "invalid_grant");
  cache.client = "client-2";
  check_fails(cache.get(), Error::Kind::no_credential, "invalid_grant");
  CHECK(cache.provider.calls == 2);
  CHECK_FALSE(std::filesystem::exists(cache.file(".credential")));
}

TEST_CASE("a temporary refusal does not remove the entry") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.clock.time += 10s;
  cache.provider.error = refused();
  cache.provider.error->is_transient = true;
  CHECK(cache.token() == "token-1");
  CHECK(cache.provider.calls == 2);
  CHECK(std::filesystem::exists(cache.file(".credential")));
}

TEST_CASE("a configuration error is returned, and the entry stays for other clients") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.clock.time += 10s;
  cache.provider.error = Error{.kind = Error::Kind::configuration, .message = "no CA file"};
  check_fails(cache.get(), Error::Kind::configuration, "no CA file");
  cache.client = "client-2";
  CHECK(cache.token() == "token-1");
}

TEST_CASE("a local error, such as an expired subject token, does not remove the entry") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  CHECK(cache.provider.seen.back().is_needed);
  cache.clock.time += 1min;
  cache.provider.error = refused();
  cache.provider.error->is_local = true;
  CHECK(cache.token() == "token-1");
  CHECK(cache.token() == "token-1");
  CHECK(cache.provider.calls == 3);
  CHECK_FALSE(cache.provider.seen.back().is_needed);
}

TEST_CASE("an unavailable provider: the entry is served, and suspected again at twice the age") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.provider.error = down(true);
  int calls = 1;
  for (Duration age = {}; age < 50min; age += 1s, cache.clock.time += 1s) {
    CHECK(cache.token() == "token-1");
    const bool is_asked =
        age >= 10s && (age / 10s) * 10s == age && ((age / 10s) & (age / 10s - 1)) == 0;
    calls += is_asked ? 1 : 0;
    CHECK(cache.provider.calls == calls);
  }
  CHECK(cache.paused == 0s);
}

TEST_CASE("while another process asks the provider, the entry is served") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.clock.time += 10s;
  const FileDescriptor held(open(cache.file(".lock").c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(flock(held.get(), LOCK_EX | LOCK_NB) == 0);
  CHECK(cache.token() == "token-1");
  CHECK(cache.provider.calls == 1);
  CHECK(cache.paused == 0s);
}

TEST_CASE("a cache hit does not call the provider") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.client = "client-2";
  cache.clock.time += 40min;
  const CredentialCache kept(cache.options, cache.run);
  const auto hit = kept.get(test::sample_key(), [](CallContext&) -> Result<Issued> {
    FAIL("asked on a hit");
    return refused();
  });
  CHECK(hit.has_value());
}

TEST_CASE("start_time_of: the 22nd field, with any name of the program") {
  const std::string rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21\n";
  for (const std::string name : {"a", "a b", ") S 1 (", "a)) (b", ""}) {
    CAPTURE(name);
    CHECK(start_time_of("42 (" + name + ")" + rest) == "987654");
  }
  for (const std::string text : {"", "42", "42 (a)", "42 (a) ", "42 (a) S 1 2", "42 (a)S"}) {
    CAPTURE(text);
    CHECK_FALSE(start_time_of(text));
  }
  CHECK_FALSE(start_time_of("42 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x 20"));
}

TEST_CASE("parent_identity: the parent's id, and the same each time") {
  const std::optional<std::string> identity = parent_identity();
  REQUIRE(identity);
  CHECK(identity->starts_with(std::to_string(getppid()) + " "));
  CHECK(test::contains(*identity, " pid:["));
  CHECK(identity == parent_identity());
}

}  // namespace
}  // namespace execcred

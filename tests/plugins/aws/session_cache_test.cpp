// SPDX-License-Identifier: Apache-2.0
// A session outlives its tokens: a client that asks for the next token gets the cached session,
// and the cache does not suspect that the cluster refused it.
#include "sandbox.hpp"

#include <doctest/doctest.h>
#include <aws/eks_token.hpp>
#include <aws/session.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/cache/credential_cache.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;

class SetClock final : public Clock {
 public:
  TimePoint now() const override { return time; }
  TimePoint time = *parse_rfc3339("2026-07-01T12:00:00Z");
};

using Client = std::function<std::optional<std::string>(TimePoint)>;

// How often the cache requests a session for one client that asks at these times.
int calls_for(const std::vector<std::chrono::seconds>& times, const Client& client) {
  const blackbox::Sandbox sandbox;
  SetClock clock;
  const TimePoint start = clock.time;
  CacheOptions options = {.directory = sandbox.at("cache")};
  options.client = [&] { return client(clock.now()); };
  const CredentialCache cache(options, {.clock = clock});
  CacheKey key;
  key.add("a", "session");
  int calls = 0;
  const auto ask = [&](CallContext&) -> Result<Issued> {
    ++calls;
    Issued fresh;
    fresh.credential.token = SecretString("session");
    fresh.credential.expires_at = clock.now() + 6h;
    return fresh;
  };
  for (const std::chrono::seconds time : times) {
    clock.time = start + time;
    CHECK(cache.get(key, ask).has_value());
  }
  return calls;
}

}  // namespace

TEST_CASE("client: one that asks every 14 minutes gets the cached session") {
  std::vector<std::chrono::seconds> times;
  for (int i = 0; i < 20; ++i) times.push_back(aws::kClaimedLifetime * i);
  CHECK(calls_for(times, aws::client_of_token) == 1);
  // If only its parent process identified it, the cache would suspect that it was refused.
  CHECK(calls_for(times, [](TimePoint) { return parent_identity(); }) > 1);
}

TEST_CASE("client: one that asks again after 60 seconds gets a new session, after 5 it does not") {
  CHECK(calls_for({0s, 60s}, aws::client_of_token) == 2);
  CHECK(calls_for({0s, 5s}, aws::client_of_token) == 1);
}

TEST_CASE("client: after a token's lifetime it is another client, at any start time") {
  const TimePoint start = *parse_rfc3339("2026-07-01T12:00:00Z");
  for (int second = 0; second < 14 * 60; second += 7) {
    const TimePoint now = start + std::chrono::seconds(second);
    CHECK(aws::client_of_token(now) != aws::client_of_token(now + aws::kClaimedLifetime));
  }
  CHECK(aws::client_of_token(start) == aws::client_of_token(start));
}

}  // namespace execcred::test

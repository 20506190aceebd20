// SPDX-License-Identifier: Apache-2.0
// A cache for one test, with a clock and a provider that the test controls.
#pragma once

#include "unit/expect.hpp"
#include "unit/temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/entry.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

using namespace std::chrono_literals;

class SetClock final : public Clock {
 public:
  TimePoint now() const override { return time; }
  TimePoint time = TimePoint(std::chrono::sys_days(std::chrono::year(2026) / 7 / 1) + 12h);
};

inline CacheKey sample_key(std::string_view issuer = "https://idp.example.com") {
  CacheKey key;
  return key.add("plugin", "test").add("issuer", issuer).add("subject", "controller");
}

inline Issued fresh_token(std::string_view token, std::optional<TimePoint> expires_at) {
  return {.credential = {.token = SecretString(token), .expires_at = expires_at},
          .identity = "controller",
          .target = "https://spoke-1.example.com"};
}

// Returns token-1, token-2, …; or an error, if one is set.
struct TestProvider {
  int calls = 0;
  Duration lifetime = 1h;
  std::optional<Error> error = std::nullopt;
  std::optional<Duration> retry_after = std::nullopt;
  bool is_spent = false;
  std::vector<CallContext> seen = {};
};

inline Error down(bool is_transient = false) {
  return {.kind = Error::Kind::unavailable,
          .message = "the provider is down",
          .is_transient = is_transient};
}
inline Error refused() {
  return {.kind = Error::Kind::no_credential, .message = "invalid_grant", .hint = "mend it"};
}

class CacheFixture {
 public:
  CacheFixture() {
    options.directory = path().native();
    options.client = [this] { return client; };
    options.pause = [this](Duration pause) {
      clock.time += pause;
      paused += pause;
    };
    run.debug = [this](std::string_view step) { steps += std::string(step) + "\n"; };
  }
  CacheFixture(const CacheFixture&) = delete;
  CacheFixture& operator=(const CacheFixture&) = delete;

  std::filesystem::path path() const { return directory / "cache"; }
  std::filesystem::path file(std::string_view ending, const CacheKey& key = sample_key()) const {
    return path() / (hash_key(key.text()).hex() + std::string(ending));
  }

  Result<Credential> get(const CacheKey& key = sample_key()) {
    const CredentialCache cache(options, run);
    return cache.get(key, [this](CallContext& call) -> Result<Issued> {
      ++provider.calls;
      provider.seen.push_back(call);
      call.outcome->retry_after = provider.retry_after;
      call.outcome->is_spent = provider.is_spent;
      if (provider.error) return *provider.error;
      return fresh_token("token-" + std::to_string(provider.calls), clock.time + provider.lifetime);
    });
  }
  // The token, or the error's message.
  std::string token(const CacheKey& key = sample_key()) {
    const Result<Credential> credential = get(key);
    return credential ? std::string(credential->token.reveal()) : credential.error().message;
  }

  bool is_served() { return token().starts_with("token-") || token().starts_with("new-"); }
  // Whether a file with the name of an entry or a failure has invalid content.
  bool has_torn_file() const {
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(path(), none)) {
      const std::string name = file.path().filename().native();
      if (!name.ends_with(".credential") && !name.ends_with(".failure")) continue;
      std::ifstream stream(file.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      if (!parse_cached_credential(text) && !parse_cached_failure(text)) return true;
    }
    return false;
  }
  // Whether the answer is the token that the provider gave last.
  bool is_served_newest() {
    const std::string given = token();
    return given == "token-" + std::to_string(provider.calls);
  }

  TempDir directory;
  Environment environment;
  SetClock clock;
  CallContext run = {.clock = clock, .environment = environment};
  TestProvider provider;
  CacheOptions options;
  std::optional<std::string> client = "client-1";
  Duration paused = {};
  std::string steps;
};

}  // namespace execcred::test

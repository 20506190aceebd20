// SPDX-License-Identifier: Apache-2.0
#include "filled_cache.hpp"

#include <execcred/cache/pending_request.hpp>

#include <utility>

namespace blackbox {
namespace {

std::string key_of(std::string_view issuer) {
  execcred::CacheKey key;
  return key.add("plugin", "execcred-oidc-federation").add("issuer-url", issuer).text();
}

}  // namespace

void FilledCache::add_credential(std::string_view issuer, TimePoint created, TimePoint expires,
                                 const std::string& identity, const std::string& target) const {
  execcred::CachedCredential entry{.key = key_of(issuer),
                                   .created = created,
                                   .expires = expires,
                                   .identity = identity,
                                   .target = target};
  entry.credential.token = execcred::SecretString(kCachedSecret);
  write(entry.key, ".credential", execcred::write_cached_credential(entry).reveal(), expires);
}

void FilledCache::add_failure(std::string_view issuer, TimePoint created, TimePoint until,
                              const std::string& message) const {
  const execcred::CachedFailure entry{
      .key = key_of(issuer),
      .created = created,
      .until = until,
      .error = {.kind = execcred::Error::Kind::unavailable, .message = message, .hint = "wait"}};
  write(entry.key, ".failure", execcred::write_cached_failure(entry), until);
}

void FilledCache::add_request(const std::string& name, std::optional<TimePoint> closed) const {
  const execcred::PendingRequest entry{.key = key_of(name),
                                       .name = name,
                                       .request = "PEM",
                                       .private_key = execcred::SecretString(kCachedSecret),
                                       .closed = closed};
  write(entry.key, ".request", execcred::write_pending_request(entry).reveal(),
        now() + std::chrono::hours(1));
}

void FilledCache::write(const std::string& key, std::string_view ending, std::string_view text,
                        TimePoint ends) const {
  const auto directory =
      execcred::CacheDirectory::open(path(), {}, execcred::CacheDirectory::IfMissing::create);
  REQUIRE(directory);
  REQUIRE(directory->write(execcred::hash_key(key).hex() + std::string(ending), text, ends));
}

Outcome FilledCache::run(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {kCli, "cache"});
  arguments.push_back("--cache-dir=" + path());
  return blackbox::run({.arguments = std::move(arguments), .environment = {}});
}

std::size_t count_files(const std::string& folder, std::string_view ending) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    count += entry.path().native().ends_with(ending) ? 1U : 0U;
  }
  return count;
}

}  // namespace blackbox

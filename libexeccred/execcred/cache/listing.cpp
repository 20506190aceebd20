// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/listing.hpp>

#include <execcred/cache/entry.hpp>
#include <execcred/cache/tidy.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace execcred {
namespace {

std::vector<std::string> names_of(const CacheDirectory& directory) {
  long first = 0;
  return directory.names(std::numeric_limits<std::size_t>::max(), first);
}

std::optional<CacheItem> read_item(const CacheDirectory& directory, const std::string& name) {
  const bool is_credential = name.ends_with(kCredentialEnding);
  if (!is_credential && !name.ends_with(kFailureEnding)) return std::nullopt;
  const std::optional<SecretString> text = directory.read(name, kMaxCacheFile);
  if (!text) return std::nullopt;
  if (is_credential) {
    std::optional<CachedCredential> entry = parse_cached_credential(text->reveal());
    if (!entry) return std::nullopt;
    return CacheItem{.key = std::move(entry->key),
                     .identity = std::move(entry->identity),
                     .target = std::move(entry->target),
                     .created = entry->created,
                     .ends = entry->expires};
  }
  std::optional<CachedFailure> entry = parse_cached_failure(text->reveal());
  if (!entry) return std::nullopt;
  return CacheItem{.key = std::move(entry->key),
                   .created = entry->created,
                   .ends = entry->until,
                   .failure = std::move(entry->error)};
}

}  // namespace

std::vector<CacheItem> list_cache(const CacheDirectory& directory) {
  std::vector<CacheItem> items;
  for (const std::string& name : names_of(directory)) {
    if (std::optional<CacheItem> item = read_item(directory, name)) {
      items.push_back(*std::move(item));
    }
  }
  std::sort(items.begin(), items.end(), [](const CacheItem& a, const CacheItem& b) {
    return a.key != b.key ? a.key < b.key : !a.failure.has_value() && b.failure.has_value();
  });
  return items;
}

std::size_t clear_cache(const CacheDirectory& directory) {
  std::size_t count = 0;
  for (const std::string& name : names_of(directory)) {
    const bool is_entry = name.ends_with(kCredentialEnding) || name.ends_with(kFailureEnding);
    const bool is_other = name.ends_with(kDiscoveryEnding) || name.ends_with(kMarkEnding) ||
                          name.ends_with(kSigningRequestEnding) || name.ends_with(kNewEnding) ||
                          name == kPositionName;
    if (!is_entry && !is_other) continue;
    directory.remove(name);
    if (is_entry) ++count;
  }
  return count;
}

}  // namespace execcred

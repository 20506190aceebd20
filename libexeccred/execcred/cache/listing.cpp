// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/listing.hpp>

#include <execcred/cache/entry.hpp>
#include <execcred/cache/pending_request.hpp>
#include <execcred/cache/tidy.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace execcred {
namespace {

std::vector<std::string> names_of(const CacheDirectory& directory) {
  long first = 0;
  return directory.names(std::numeric_limits<std::size_t>::max(), first);
}

// The file does not have these times: it ends at its mtime (docs/cache.md).
void add_times(const CacheDirectory& directory, const std::string& name, CacheItem& item) {
  struct stat status = {};
  if (fstatat(directory.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  const auto time_of = [](const timespec& time) {
    return TimePoint(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  };
  item.created = time_of(status.st_ctim);
  item.ends = time_of(status.st_mtim);
}

std::optional<CacheItem> read_request(const CacheDirectory& directory, const std::string& name) {
  const std::optional<SecretString> text = directory.read(name, kMaxCacheFile);
  std::optional<PendingRequest> entry;
  if (text) entry = parse_pending_request(text->reveal());
  if (!entry) return std::nullopt;
  CacheItem item{.key = std::move(entry->key),
                 .target = "certificatesigningrequest/" + entry->name,
                 .is_pending = !entry->closed};
  add_times(directory, name, item);
  if (entry->closed) item.ends = *entry->closed;
  return item;
}

std::optional<CacheItem> read_item(const CacheDirectory& directory, const std::string& name) {
  if (name.ends_with(kSigningRequestEnding)) return read_request(directory, name);
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
    const bool is_request = name.ends_with(kSigningRequestEnding);
    const bool is_entry =
        is_request || name.ends_with(kCredentialEnding) || name.ends_with(kFailureEnding);
    const bool is_other = name.ends_with(kDiscoveryEnding) || name.ends_with(kMarkEnding) ||
                          name.ends_with(kNewEnding) || name == kPositionName;
    if (!is_entry && !is_other) continue;
    if (const auto item = is_request ? read_item(directory, name) : std::nullopt) {
      if (item->is_pending) continue;
    }
    directory.remove(name);
    if (is_entry) ++count;
  }
  return count;
}

}  // namespace execcred

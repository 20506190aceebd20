// SPDX-License-Identifier: Apache-2.0
#include "cache_tidy.hpp"

#include "cache_lock.hpp"

#include <execcred/cache_key.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

namespace execcred {
namespace {

constexpr std::size_t kMaxNames = 20'000;
constexpr std::size_t kMaxExamined = 64;
constexpr std::size_t kManyMarks = 1'000;

TimePoint time_of(const timespec& time) {
  return TimePoint(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

struct Times {
  TimePoint modified;  // when it ends, but for a mark
  TimePoint changed;
};

std::optional<Times> times_of(const CacheDirectory& directory, const std::string& name) {
  struct stat status = {};
  if (fstatat(directory.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  return Times{.modified = time_of(status.st_mtim), .changed = time_of(status.st_ctim)};
}

bool is_needless(const CacheDirectory& directory, const std::string& name, TimePoint now) {
  using std::chrono::hours;
  using std::chrono::minutes;
  const std::optional<Times> times = times_of(directory, name);
  if (!times) return false;
  const bool ends = name.ends_with(kCredentialEnding) || name.ends_with(kDiscoveryEnding) ||
                    name.ends_with(kRefreshTokenEnding);
  if (ends) return times->modified <= now;
  // The next failure's window depends on it for a while.
  if (name.ends_with(kFailureEnding)) return times->modified + hours(1) <= now;
  if (name.ends_with(kMarkEnding)) return times->changed + hours(25) <= now;
  return name.ends_with(kNewEnding) && times->changed + minutes(10) <= now;
}

// What is written under a lock is removed under it, or a new one might go. A discovery document
// that goes so is fetched again.
void remove_needless(const CacheDirectory& directory, const std::string& name, TimePoint now) {
  if (name.ends_with(kMarkEnding) || name.ends_with(kNewEnding) ||
      name.ends_with(kDiscoveryEnding)) {
    directory.remove(name);
    return;
  }
  CacheLock lock(directory, name.substr(0, name.find('.')) + std::string(kLockEnding));
  if (lock.try_lock() != CacheLock::Attempt::locked) return;
  if (is_needless(directory, name, now)) directory.remove(name);
}

}  // namespace

void tidy_cache(const CacheDirectory& directory, const std::string& name, std::uint64_t id,
                TimePoint now) {
  std::vector<std::string> names = directory.names(kMaxNames);
  const std::string current = name + "." + hex_digits(id) + ".";
  std::erase_if(names, [&](const std::string& found) {
    if (!found.starts_with(name + ".")) return found.ends_with(kLockEnding);
    if (found.ends_with(kMarkEnding) && !found.starts_with(current)) directory.remove(found);
    return !found.ends_with(kNewEnding);
  });
  if (names.empty()) return;
  std::size_t next = id % names.size();
  for (std::size_t i = 0; i < std::min(names.size(), kMaxExamined); ++i) {
    const std::string& found = names[next++ % names.size()];
    if (is_needless(directory, found, now)) remove_needless(directory, found, now);
  }
}

void tidy_marks(const CacheDirectory& directory, const std::string& name, TimePoint now) {
  std::vector<std::string> names = directory.names(kMaxNames);
  std::erase_if(names, [&](const std::string& found) {
    return !found.starts_with(name + ".") || !found.ends_with(kMarkEnding);
  });
  if (names.size() <= kManyMarks) return;
  for (const std::string& mark : names) {
    const std::optional<Times> times = times_of(directory, mark);
    if (times && times->changed + std::chrono::minutes(10) <= now) directory.remove(mark);
  }
}

}  // namespace execcred

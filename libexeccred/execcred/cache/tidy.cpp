// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/tidy.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/cache/lock.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace execcred {
namespace {

constexpr std::size_t kMaxNames = 20'000;  // of one pass over the directory
constexpr std::size_t kExamined = 64;      // at least; of many names, one in kShare
constexpr std::size_t kShare = 50;
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

std::string_view key_of(std::string_view name) { return name.substr(0, name.find('.')); }

bool has_file(const CacheDirectory& directory, std::string_view key, std::string_view ending) {
  return times_of(directory, std::string(key).append(ending)).has_value();
}

// Whether the key has a file that is read, or written under the key's lock.
bool has_content(const CacheDirectory& directory, std::string_view key) {
  return has_file(directory, key, kCredentialEnding) || has_file(directory, key, kFailureEnding) ||
         has_file(directory, key, kRefreshTokenEnding) ||
         has_file(directory, key, kSigningRequestEnding);
}

// A directory with more names than one pass reads is read by several runs: a file has the position
// at which the next run continues. The position may be wrong; it is only a place to begin.
std::vector<std::string> names_in_turn(const CacheDirectory& directory, TimePoint now) {
  constexpr std::size_t kLongest = 32;
  const std::string file(kPositionName);
  long position = 0;
  if (const std::optional<SecretString> text = directory.read(file, kLongest)) {
    const std::string_view digits = text->reveal();
    std::from_chars(digits.data(), digits.data() + digits.size(), position);
  }
  const bool was_within = position != 0;
  std::vector<std::string> names = directory.names(kMaxNames, position);
  if (position != 0) {
    static_cast<void>(directory.write(file, std::to_string(position), now));
  } else if (was_within) {
    directory.remove(file);
  }
  return names;
}

bool is_needless(const CacheDirectory& directory, const std::string& name, TimePoint now) {
  using std::chrono::hours;
  using std::chrono::minutes;
  const std::optional<Times> times = times_of(directory, name);
  if (!times) return false;
  const bool ends = name.ends_with(kCredentialEnding) || name.ends_with(kDiscoveryEnding) ||
                    name.ends_with(kRefreshTokenEnding) || name.ends_with(kSigningRequestEnding);
  if (ends) return times->modified <= now;
  // The window of the next failure depends on this one for some time.
  if (name.ends_with(kFailureEnding)) return times->modified + hours(1) <= now;
  if (name.ends_with(kMarkEnding)) {
    return times->changed + hours(25) <= now ||
           !has_file(directory, key_of(name), kCredentialEnding);
  }
  // A process that has just created a lock's file is about to lock it, and must not wait for this
  // check.
  if (name.ends_with(kLockEnding)) {
    return times->modified + minutes(10) <= now && !has_content(directory, key_of(name));
  }
  return name.ends_with(kNewEnding) && times->changed + minutes(10) <= now;
}

// Files that are written under a lock are also removed under it, so that no new file is removed;
// the lock is removed with the key's last file. A discovery document has no lock: if it is removed,
// it is fetched again.
void remove_needless(const CacheDirectory& directory, const std::string& name, TimePoint now) {
  if (name.ends_with(kMarkEnding) || name.ends_with(kNewEnding) ||
      name.ends_with(kDiscoveryEnding)) {
    directory.remove(name);
    return;
  }
  const std::string_view key = key_of(name);
  CacheLock lock(directory, std::string(key).append(kLockEnding));
  if (lock.try_lock() != CacheLock::Attempt::locked) return;
  if (!name.ends_with(kLockEnding) && is_needless(directory, name, now)) directory.remove(name);
  remove_needless_lock(directory, std::string(key), lock);
}

// Checks some of the names and removes the unneeded files. Each run begins at another name.
void sweep(const CacheDirectory& directory, const std::vector<std::string>& names,
           std::uint64_t seed, TimePoint now) {
  if (names.empty()) return;
  const std::size_t count = std::min(names.size(), std::max(kExamined, names.size() / kShare));
  std::size_t next = seed % names.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = names[next++ % names.size()];
    if (is_needless(directory, name, now)) remove_needless(directory, name, now);
  }
}

// Whether the file is one of this key, which the run handles itself; unfinished files of writers do
// not count.
bool is_of_key(std::string_view name, std::string_view key) {
  return key_of(name) == key && !name.ends_with(kNewEnding);
}

}  // namespace

void tidy_cache(const CacheDirectory& directory, const std::string& name, std::uint64_t id,
                TimePoint now) {
  std::vector<std::string> names = names_in_turn(directory, now);
  const std::string current = name + "." + hex_digits(id) + ".";
  std::erase_if(names, [&](const std::string& found) {
    if (!is_of_key(found, name)) return false;
    if (found.ends_with(kMarkEnding) && !found.starts_with(current)) directory.remove(found);
    return true;
  });
  sweep(directory, names, id, now);
}

void tidy_after_failure(const CacheDirectory& directory, const std::string& name, TimePoint now) {
  std::vector<std::string> names = names_in_turn(directory, now);
  std::erase_if(names, [&](const std::string& found) { return is_of_key(found, name); });
  sweep(directory, names, static_cast<std::uint64_t>(now.time_since_epoch().count()), now);
}

void remove_needless_lock(const CacheDirectory& directory, const std::string& name,
                          const CacheLock& lock) {
  if (!has_content(directory, name)) lock.remove();
}

void tidy_marks(const CacheDirectory& directory, const std::string& name, TimePoint now) {
  std::vector<std::string> names = names_in_turn(directory, now);
  std::erase_if(names, [&](const std::string& found) {
    return key_of(found) != name || !found.ends_with(kMarkEnding);
  });
  if (names.size() <= kManyMarks) return;
  for (const std::string& mark : names) {
    const std::optional<Times> times = times_of(directory, mark);
    if (times && times->changed + std::chrono::minutes(10) <= now) directory.remove(mark);
  }
}

}  // namespace execcred

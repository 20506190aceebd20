// SPDX-License-Identifier: Apache-2.0
// Keeps the cache directory small. A run that asked the provider does this, so that a hit costs
// nothing. Each call checks a few files, and all calls together check every file.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/cache/lock.hpp>

#include <cstdint>
#include <string>

namespace execcred {

inline constexpr std::string_view kCredentialEnding = ".credential";
inline constexpr std::string_view kFailureEnding = ".failure";
inline constexpr std::string_view kDiscoveryEnding = ".discovery";
inline constexpr std::string_view kRefreshTokenEnding = ".refresh";
inline constexpr std::string_view kSigningRequestEnding = ".request";
inline constexpr std::string_view kLockEnding = ".lock";
inline constexpr std::string_view kMarkEnding = ".seen";
inline constexpr std::string_view kNewEnding = ".new";
// The file with the position at which the next pass over a large directory begins.
inline constexpr std::string_view kPositionName = "tidy.position";

// Removes the marks of former entries of `name`, whose entry is now `id`, and a few unneeded files
// of other keys: expired entries, marks that are a day old or whose entry is gone, files of killed
// writers, and locks older than ten minutes of keys without other files.
void tidy_cache(const CacheDirectory& directory, const std::string& name, std::uint64_t id,
                TimePoint now);

// The same for a run that stored no new entry: the marks of `name` stay.
void tidy_after_failure(const CacheDirectory& directory, const std::string& name, TimePoint now);

// For the holder of the lock of `name`: removes the lock's file if the key has nothing else.
void remove_needless_lock(const CacheDirectory& directory, const std::string& name,
                          const CacheLock& lock);

// If `name` has more than a thousand marks, removes those that are older than ten minutes. Clients
// that run for one request leave one mark each, and an entry may stay for a day.
void tidy_marks(const CacheDirectory& directory, const std::string& name, TimePoint now);

}  // namespace execcred

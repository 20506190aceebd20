// SPDX-License-Identifier: Apache-2.0
// The credential cache's rules about time, without files and processes.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/clock.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/cache/entry.hpp>
#include <execcred/cache/key.hpp>

#include <cstdint>
#include <optional>

namespace execcred {

struct CacheTimes {
  // How long a permanent error is remembered.
  Duration permanent_window = std::chrono::seconds(10);
  // How long a provider that is unavailable is not asked: after the first failure, and at most.
  Duration first_window = std::chrono::seconds(2);
  Duration longest_window = std::chrono::seconds(64);
  // How long one run waits, in total, to ask such a provider again.
  Duration retry_patience = std::chrono::seconds(3);
  Duration longest_lock_wait = std::chrono::seconds(10);
  // The age from which an entry is suspected to be revoked when a client asks again.
  Duration first_reask = std::chrono::seconds(10);
  // The longest lifetime of an entry, even if the provider's credential is valid for longer.
  Duration longest_lifetime = std::chrono::hours(24);
  // The lifetime of an entry whose credential has no expiry.
  Duration endless_lifetime = std::chrono::minutes(10);
};

// How long before its expiry a credential is refreshed: `before`, or by default a fifth of the
// lifetime but at most 5 minutes. Up to 20 % are added, depending on the key, so that many clusters
// do not refresh together. The result is at most 90 % of the lifetime.
Duration refresh_window(Duration lifetime, std::optional<Duration> before, const KeyHash& hash);

// Whether the entry has not expired, and its times are possible: it is not from the future, and its
// lifetime is not longer than the longest one.
bool is_valid(const CachedCredential& entry, TimePoint now, const CacheTimes& times);

// Whether the provider must not be asked now because of this failure. False if its window has ended
// or is longer than one can be, because the clock was changed.
bool is_pending(const CachedFailure& failure, TimePoint now);

// The entry for a failure at `now`. `before` is the previous failure of the key, if there is one;
// repeated failures of the kind unavailable get longer windows.
CachedFailure next_failure(const std::optional<CachedFailure>& before, Error error,
                           std::optional<Duration> retry_after, TimePoint now,
                           const CacheTimes& times);

// The age of the entry; 0 if it is from the future.
Duration age_of(const CachedCredential& entry, TimePoint now);

// Whether the provider is asked because a client asks again, since a server may have refused this
// entry. False for a young entry. If the provider failed since the entry was created, true only if
// the entry is at least twice as old as it was at that failure.
bool is_suspect(const CachedCredential& entry, const std::optional<CachedFailure>& failure,
                TimePoint now, const CacheTimes& times);

}  // namespace execcred

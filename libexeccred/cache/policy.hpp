// SPDX-License-Identifier: Apache-2.0
// The credential cache's rules about time, without files and processes.
#pragma once

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
  // How long a provider that is unavailable is not asked: the first time, and at most.
  Duration first_window = std::chrono::seconds(2);
  Duration longest_window = std::chrono::seconds(64);
  Duration longest_retry_after = std::chrono::hours(1);
  // How long one run waits, altogether, to ask such a provider again.
  Duration retry_patience = std::chrono::seconds(3);
  Duration longest_lock_wait = std::chrono::seconds(10);
  // The age from which an entry is suspected to be revoked when a client asks again.
  Duration first_reask = std::chrono::seconds(10);
  // No entry is used longer, whatever the provider says.
  Duration longest_lifetime = std::chrono::hours(24);
  // Of the entry of a credential without an end.
  Duration endless_lifetime = std::chrono::minutes(10);
};

// How long before its end a credential is refreshed: `before`, or a fifth of the lifetime, at most
// 5 minutes; plus up to 20 % by the key, so that many clusters do not refresh together; at most
// 90 % of the lifetime.
Duration refresh_window(Duration lifetime, std::optional<Duration> before, const KeyHash& hash);

// The entry has not ended, and no change of the clock makes its times invalid.
bool is_valid(const CachedCredential& entry, TimePoint now, const CacheTimes& times);

// The provider must not be asked now.
bool is_pending(const CachedFailure& failure, TimePoint now, const CacheTimes& times);

// The entry for a failure at `now`, after `before` if there was one.
CachedFailure next_failure(const std::optional<CachedFailure>& before, Error error,
                           std::optional<Duration> retry_after, TimePoint now,
                           const CacheTimes& times);

// Not negative.
Duration age_of(const CachedCredential& entry, TimePoint now);

// A client that asks again may have been refused with this entry, so the provider is asked. Not for
// a young entry. If the provider could not be reached, it is asked again only when the entry is
// twice as old.
bool is_suspect(const CachedCredential& entry, const std::optional<CachedFailure>& failure,
                TimePoint now, const CacheTimes& times);

}  // namespace execcred

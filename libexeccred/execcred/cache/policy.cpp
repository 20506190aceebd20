// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/policy.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

// How far another process's entry may be in the future, because clocks are slewed.
constexpr Duration kSlack = std::chrono::seconds(2);

bool is_from_future(TimePoint created, TimePoint now) { return created > now + kSlack; }

// The window doubles for each failure in a row; a failure long after the last one starts a new row.
Duration window_after(const std::optional<CachedFailure>& before, TimePoint now,
                      const CacheTimes& times, std::int64_t& count) {
  count = 1;
  Duration window = times.first_window;
  if (!before || before->error.kind != Error::Kind::unavailable) return window;
  if (is_from_future(before->created, now) || now - before->until > times.longest_window) {
    return window;
  }
  count = std::min<std::int64_t>(before->count, 62) + 1;
  for (std::int64_t i = 1; i < count && window < times.longest_window; ++i) window *= 2;
  return std::min(window, times.longest_window);
}

}  // namespace

Duration refresh_window(Duration lifetime, std::optional<Duration> before, const KeyHash& hash) {
  constexpr Duration kLongest = std::chrono::minutes(5);
  constexpr std::int64_t kSteps = 4096;
  const Duration usual = std::min(lifetime / 5, kLongest);
  const Duration base = std::clamp(before.value_or(usual), Duration::zero(), lifetime);
  const auto step = static_cast<std::int64_t>(hash.mixed() % kSteps);
  return std::min(base + base / 5 / kSteps * step, lifetime / 10 * 9);
}

bool is_valid(const CachedCredential& entry, TimePoint now, const CacheTimes& times) {
  if (is_from_future(entry.created, now) || entry.expires <= now) return false;
  return entry.expires - entry.created <= times.longest_lifetime;
}

bool is_pending(const CachedFailure& failure, TimePoint now) {
  if (is_from_future(failure.created, now) || failure.until <= now) return false;
  return failure.until - failure.created <= kLongestRetryAfter;
}

CachedFailure next_failure(const std::optional<CachedFailure>& before, Error error,
                           std::optional<Duration> retry_after, TimePoint now,
                           const CacheTimes& times) {
  CachedFailure failure{.created = now};
  Duration window = times.permanent_window;
  if (error.kind == Error::Kind::unavailable) {
    window = window_after(before, now, times, failure.count);
  }
  window = std::max(window, retry_after.value_or(Duration::zero()));
  failure.until = now + std::min(window, kLongestRetryAfter);
  failure.error = std::move(error);
  return failure;
}

Duration age_of(const CachedCredential& entry, TimePoint now) {
  return std::max(now - entry.created, Duration::zero());
}

bool is_suspect(const CachedCredential& entry, const std::optional<CachedFailure>& failure,
                TimePoint now, const CacheTimes& times) {
  const Duration age = age_of(entry, now);
  if (age < std::max(entry.reask_after, times.first_reask)) return false;
  if (!failure || failure->created < entry.created) return true;
  if (is_from_future(failure->created, now)) return true;
  if (is_pending(*failure, now)) return false;
  return age >= 2 * age_of(entry, failure->created);
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include <execcred/base/digest.hpp>

#include <algorithm>

namespace execcred::sync {
namespace {

constexpr Duration kShortest = std::chrono::seconds(1);
// For a credential without an end, because the plugin's source may change.
constexpr Duration kWithoutEnd = std::chrono::minutes(10);
constexpr Duration kFirstPause = std::chrono::seconds(2);
constexpr Duration kLongestPause = std::chrono::minutes(5);
constexpr Duration kLocalPause = std::chrono::seconds(10);
constexpr std::size_t kLocalRate = 20;  // runs in a second

}  // namespace

double spread_of(std::string_view cluster) {
  const Sha256Digest digest = sha256(cluster);
  const unsigned number = digest[0] * 256U + digest[1];
  return number / 65535.0;
}

TimePoint renewal_of(const Lifetime& lifetime, const RenewalRules& rules, double spread) {
  const TimePoint issued = lifetime.issued;
  const double place = 0.9 + 0.2 * spread;
  if (!lifetime.expires) {
    return issued + std::chrono::duration_cast<Duration>(kWithoutEnd * place);
  }
  const double share = std::min(rules.share * place, 0.99);
  return issued + std::chrono::duration_cast<Duration>((*lifetime.expires - issued) * share);
}

TimePoint next_question(std::optional<std::chrono::sys_seconds> expires, TimePoint now) {
  if (!expires) return now + kWithoutEnd;
  return now + std::max<Duration>((*expires - now) / 2, kShortest);
}

Duration longest_local_pause(std::size_t clusters) {
  const Duration pause = std::chrono::seconds(clusters / kLocalRate);
  return std::clamp(pause, kLocalPause, kLongestPause);
}

TimePoint next_attempt(std::size_t failures, std::optional<std::chrono::sys_seconds> expires,
                       TimePoint now, double share, Duration longest) {
  constexpr std::size_t kMostDoublings = 8;  // 512 s
  Duration pause = kFirstPause;
  for (std::size_t i = 1; i < failures && i <= kMostDoublings; ++i) pause *= 2;
  pause = std::chrono::duration_cast<Duration>(std::min(pause, longest) * share);
  if (expires && *expires > now) {
    pause = std::min(pause, std::max<Duration>((*expires - now) / 4, kShortest));
  }
  return now + pause;
}

bool RenewalPace::begin(TimePoint now) {
  constexpr double kMostOfMean = 2.5;
  if (last_) {
    const std::chrono::duration<double> passed = now - *last_;
    // A clock that was set back adds nothing.
    const double earned = std::max(passed.count(), 0.0) * mean_ * kMostOfMean;
    credit_ = std::min(kAtOnce, credit_ + earned);
  }
  last_ = now;
  if (credit_ < 1) return false;
  credit_ -= 1;
  return true;
}

}  // namespace execcred::sync

// SPDX-License-Identifier: Apache-2.0
// When the credential of a cluster is renewed.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/duration.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace execcred::sync {

struct RenewalRules {
  double share = 2.0 / 3;  // of the lifetime
};

// The lifetime of a credential, from the plugin's answer to its end.
struct Lifetime {
  std::chrono::sys_seconds issued = {};
  std::optional<std::chrono::sys_seconds> expires = std::nullopt;
};

// A number from 0 to 1 that depends on the cluster's name, evenly distributed.
double spread_of(std::string_view cluster);

// When the credential is renewed: after the share of its lifetime, up to a tenth of the share
// earlier or later, as `spread` says. So clusters that started together are renewed at different
// times, and each one always at the same share. A credential without an end is renewed after about
// ten minutes.
TimePoint renewal_of(const Lifetime& lifetime, const RenewalRules& rules, double spread);

// When to run the plugin again after it gave the same credential again: after half of the time that
// remains, or after ten minutes if the credential has no end.
TimePoint next_question(std::optional<std::chrono::sys_seconds> expires, TimePoint now);

// When to run the plugin again after `failures` failures in a row, at least one. The pause is
// `share` of its limit, a random number from a half to 1, so that what failed together is not tried
// again together. The limit is doubled for each failure, from 2 s to 5 min. The pause is at most a
// quarter of the time until the end of the existing credential, but at least one second.
TimePoint next_attempt(std::size_t failures, std::optional<std::chrono::sys_seconds> expires,
                       TimePoint now, double share, Duration longest = std::chrono::minutes(5));

// The longest pause after a failure of this machine, where `clusters` have one: 10 s, and longer
// for many, so that all of them together run at most 20 plugins a second.
Duration longest_local_pause(std::size_t clusters);

// Limits how many renewals may begin, so that many due ones are no burst. 32 may begin at once;
// after that, the rate is at most 2.5 times the mean.
class RenewalPace {
 public:
  // `mean` is the number of renewals per second that the lifetimes require.
  void set_mean(double mean) { mean_ = mean; }
  // Whether a renewal may begin now. If so, it is counted.
  bool begin(TimePoint now);

 private:
  static constexpr double kAtOnce = 32;

  double mean_ = 0;
  double credit_ = kAtOnce;
  std::optional<TimePoint> last_ = std::nullopt;
};

}  // namespace execcred::sync

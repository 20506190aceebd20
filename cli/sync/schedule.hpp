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

// A credential from the plugin's answer to its end.
struct Lifetime {
  std::chrono::sys_seconds issued = {};
  std::optional<std::chrono::sys_seconds> expires = std::nullopt;
};

// Up to a tenth of the share earlier or later, by the cluster's name, so that clusters that started
// together are renewed at different times, each always at the same share.
TimePoint renewal_of(const Lifetime& lifetime, const RenewalRules& rules, std::string_view cluster);

// After the plugin gave the same credential again: at half of what remains.
TimePoint next_question(std::optional<std::chrono::sys_seconds> expires, TimePoint now);

// After `failures` failures in a row, at least one: longer each time, up to five minutes; sooner if
// the existing credential ends.
TimePoint next_attempt(std::size_t failures, std::optional<std::chrono::sys_seconds> expires,
                       TimePoint now);

// Limits how many renewals may begin, so that many due ones are no burst: 2.5 times the mean, after
// the first 32.
class RenewalPace {
 public:
  // `mean` is the number of renewals in a second that the lifetimes make necessary.
  void set_mean(double mean) { mean_ = mean; }
  // Whether one may begin now; then it counts.
  bool begin(TimePoint now);

 private:
  static constexpr double kAtOnce = 32;

  double mean_ = 0;
  double credit_ = kAtOnce;
  std::optional<TimePoint> last_ = std::nullopt;
};

}  // namespace execcred::sync

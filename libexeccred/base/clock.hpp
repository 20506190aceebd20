// SPDX-License-Identifier: Apache-2.0
// The time of day, made once and passed on, so that tests choose it.
#pragma once

#include <chrono>

namespace execcred {

// UTC, nanoseconds since 1970: good from 1678 to 2262.
using TimePoint = std::chrono::sys_time<std::chrono::nanoseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimePoint now() const override {
    return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  }
};

}  // namespace execcred

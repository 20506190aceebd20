// SPDX-License-Identifier: Apache-2.0
// The clock. One object is made and passed on, so that tests can choose the time.
#pragma once

#include <chrono>

namespace execcred {

// Nanoseconds since 1970 in UTC. The range is from 1678 to 2262.
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

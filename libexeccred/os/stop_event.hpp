// SPDX-License-Identifier: Apache-2.0
// The request to end, which one thread or a signal handler makes and others wait for. It is an
// eventfd, so that a thread that waits for a socket can wait for this too.
#pragma once

#include <execcred/base/result.hpp>

#include <chrono>

namespace execcred {

class StopEvent {
 public:
  // Fails (unavailable, is_local) where the process has no descriptor left.
  static Result<StopEvent> make();
  StopEvent(StopEvent&& other) noexcept;
  StopEvent& operator=(StopEvent&&) = delete;
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;
  ~StopEvent();

  // Permanent. Callable by any thread, any number of times; async-signal-safe.
  void request() const;
  bool is_requested() const;
  // Waits for the request until `time`. Returns whether it is requested.
  bool wait_until(std::chrono::steady_clock::time_point time) const;

  // Readable as soon as it is requested. Never read or close it.
  int descriptor() const { return descriptor_; }

 private:
  explicit StopEvent(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace execcred

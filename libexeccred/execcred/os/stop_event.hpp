// SPDX-License-Identifier: Apache-2.0
// A request to end. One thread or a signal handler makes it, and others wait for it. It is an
// eventfd, so that a thread that waits for a socket can wait for this too.
#pragma once

#include <execcred/base/result.hpp>

#include <chrono>

namespace execcred {

class StopEvent {
 public:
  // Fails (unavailable, is_local) if no eventfd can be made, for example for lack of descriptors.
  static Result<StopEvent> make();
  StopEvent(StopEvent&& other) noexcept;
  StopEvent& operator=(StopEvent&&) = delete;
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;
  ~StopEvent();

  // The request is permanent. Any thread may call this, any number of times; async-signal-safe.
  void request() const;
  bool is_requested() const;
  // Waits for the request until `time`. Returns whether it was made.
  bool wait_until(std::chrono::steady_clock::time_point time) const;

  // Becomes readable with the request. Callers must not read or close it.
  int descriptor() const { return descriptor_; }

 private:
  explicit StopEvent(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace execcred

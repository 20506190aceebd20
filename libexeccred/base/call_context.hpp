// SPDX-License-Identifier: Apache-2.0
// The clock, deadline, environment and log of a run, or of one call within it. The caller makes it.
// A step with less time gets a copy with an earlier deadline.
//
// The caller decides all of them together, and every layer between a plugin and a socket passes
// them on. Code that retries needs the deadline, the clock, the permission to retry, and the log
// for a server's answers. As separate parameters, one could be left out, and a call without a
// deadline would be the result.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/environment.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

inline const Clock& system_clock() {
  static const SystemClock kClock;
  return kClock;
}

inline const Environment& empty_environment() {
  static const Environment kEnvironment;
  return kEnvironment;
}

// What a run writes about itself in the plugins' log (--log-file), beside its result.
struct RunNotes {
  std::string identity = {};                     // whose credential it is, for people
  std::optional<bool> is_cached = std::nullopt;  // the provider was not asked
};

// Whether a credential comes from a cache or from a provider.
inline void note_delivery(RunNotes* notes, const std::string& identity, bool is_cached) {
  if (notes == nullptr) return;
  if (!identity.empty()) notes->identity = identity;
  // Of several, all must be.
  notes->is_cached = notes->is_cached.value_or(true) && is_cached;
}

struct CallContext {
  const Clock& clock = system_clock();
  const Environment& environment = empty_environment();
  // Each step, for --debug. Callers give no secret.
  std::function<void(std::string_view)> debug = [](std::string_view) {};
  // When all must have ended.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // False: the caller repeats the call later, so a request is sent once.
  bool may_retry = true;
  // False: if the call fails, there is still a valid credential, so it must not wait.
  bool is_needed = true;

  // Information for the caller about the call; set where a request is sent.

  // A failing server's Retry-After.
  std::optional<Duration> retry_after = std::nullopt;
  // The call sent something that a server accepts only once: if it fails, this run makes no other
  // call.
  bool is_spent = false;
  // Of the last reply; 0 where the last request got none.
  std::optional<int> last_status = std::nullopt;
  RunNotes* notes = nullptr;  // null: they are not needed
};

}  // namespace execcred

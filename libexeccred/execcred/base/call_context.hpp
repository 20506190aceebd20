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
#include <execcred/base/known_secrets.hpp>

#include <chrono>
#include <functional>
#include <memory>
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

// What a run knows about itself, beside its result. The first two are for the plugins' log
// (--log-file).
struct RunNotes {
  std::string identity = {};                     // whose credential it is, for people
  std::optional<bool> is_cached = std::nullopt;  // the provider was not asked
  // A call may have delivered something that a server accepts only once, so the run makes no other
  // call. A failed call counts too, unless certainly nothing of it was sent.
  bool is_spent = false;
  // What somebody must correct although there may be a credential. It is shown to the user.
  std::string warning = {};
};

// Records in `notes` whose credential was delivered, and whether it came from a cache or from the
// provider. Does nothing if `notes` is null.
inline void note_delivery(RunNotes* notes, const std::string& identity, bool is_cached) {
  if (notes == nullptr) return;
  if (!identity.empty()) notes->identity = identity;
  // If a run delivers several credentials, is_cached is true only if all came from a cache.
  notes->is_cached = notes->is_cached.value_or(true) && is_cached;
}

// The longest pause that a server may ask for (Retry-After). A longer one is cut to it.
inline constexpr Duration kLongestRetryAfter = std::chrono::minutes(5);

// What the servers of a call said, beside the returned value. The code that sends a request sets
// it.
struct CallOutcome {
  // The Retry-After of the last failing reply; nullopt if it had none.
  std::optional<Duration> retry_after = std::nullopt;
  // True if the call sent something that a server accepts only once. If the call fails then, this
  // run makes no other call.
  bool is_spent = false;
  // The HTTP status of the last reply; 0 if the last request got no reply; nullopt before the first
  // request.
  std::optional<int> last_status = std::nullopt;
  // What the requests contained that no message may show.
  KnownSecrets secrets = {};
};

// Copies share the outcome, so a step with its own copy loses nothing of it. A copy for another
// thread, or for a call with an outcome of its own, gets a new one. It is never null.
struct CallContext {
  const Clock& clock = system_clock();
  const Environment& environment = empty_environment();
  // Receives each step, for --debug. Callers must not pass a secret.
  std::function<void(std::string_view)> debug = [](std::string_view) {};
  // The time before which the call must end, with all its retries.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // If false, each request is sent only once, because the caller repeats the call later.
  bool may_retry = true;
  // If false, the caller still has a valid credential, so the call must not wait.
  bool is_needed = true;
  std::shared_ptr<CallOutcome> outcome = std::make_shared<CallOutcome>();
  RunNotes* notes = nullptr;  // null: they are not needed
};

}  // namespace execcred

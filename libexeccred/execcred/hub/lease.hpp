// SPDX-License-Identifier: Apache-2.0
// Leader election with a Lease (coordination.k8s.io/v1) of the hub, by the rules of client-go's
// leaderelection (k8s.io/client-go/tools/leaderelection), so that both can use the same Lease.
//
// A waiting process takes the Lease when its record has not changed for the record's own lease
// duration, measured by the monotonic clock of the waiting process; clocks of different machines
// are never compared. The holder stops holding the Lease one renew deadline after it began the
// request of its last renewal. Another process can take the Lease only after a further lease
// duration less the renew deadline (5 s by default).
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/os/stop_event.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace execcred {

struct LeaseTimings {
  Duration lease_duration = std::chrono::seconds(15);  // whole seconds
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  double jitter = 1.2;  // the pause of waiting processes is up to (1 + this) times retry_period
};

struct LeaseSettings {
  std::string name_space = {};
  std::string name = {};
  // Unique to this process: two processes with one identity would both hold it.
  std::string identity = {};
  LeaseTimings timings = {};
};

struct LeaseView {
  std::uint64_t generation = 0;        // grows with each change
  bool is_held = false;                // when the view was made
  std::string holder = {};             // as last read; empty: none, or not known
  bool is_renewed_by_another = false;  // the holder is another process, and it was seen to renew
  // Why the last attempt failed; nullopt if it succeeded.
  std::optional<Error> error = std::nullopt;
};

class Lease {
 public:
  // Fails (configuration) for an invalid name or identity, and for timings that do not satisfy
  // lease duration > renew deadline > (1 + jitter) * retry period.
  static Result<std::unique_ptr<Lease>> make(HubClient hub, LeaseSettings settings);

  // Waits for the Lease, renews it, and waits again if it is lost. Creates the Lease if it does not
  // exist. When `stop` is requested, releases the Lease as client-go's ReleaseOnCancel does, which
  // takes at most two seconds, and returns; all writing must have ended before `stop` is requested.
  // The caller calls this once, in a thread of its own.
  void run(const StopEvent& stop);

  // Whether this process holds the Lease. Any thread may call this; it does not wait. It becomes
  // false before another process can take the Lease.
  bool holds() const { return std::chrono::steady_clock::now() < held_until(); }
  // The time at which holds() becomes false unless the Lease is renewed; in the past if it is not
  // held. A request that changes something must have ended at most the lease duration less the
  // renew deadline after this time.
  std::chrono::steady_clock::time_point held_until() const;

  const std::string& identity() const { return settings_.identity; }
  LeaseView view() const;
  // Returns as soon as there is a generation after `seen`, and at the deadline at the latest.
  LeaseView wait_for_change(std::uint64_t seen,
                            std::chrono::steady_clock::time_point deadline) const;
  // Sets an action that the thread of run() calls after each change, without holding a lock. The
  // action must not wait. Must be set before run(). The loss of the Lease because it was not
  // renewed is such a change too.
  void on_change(std::function<void()> action) { on_change_ = std::move(action); }

 private:
  class Session;

  Lease(HubClient hub, LeaseSettings settings);

  HubClient hub_;
  LeaseSettings settings_;
  std::function<void()> on_change_ = [] {};
  std::atomic<std::chrono::steady_clock::rep> held_until_{0};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  LeaseView view_;
};

}  // namespace execcred

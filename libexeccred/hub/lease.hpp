// SPDX-License-Identifier: Apache-2.0
// Leader election with a Lease (coordination.k8s.io/v1) of the hub, by the rules of client-go's
// leaderelection (k8s.io/client-go/tools/leaderelection), so that both can use the same Lease.
//
// A waiting process takes it when its record has not changed for the record's own lease duration,
// by the waiting side's monotonic clock; clocks are never compared. The holder gives up one renew
// deadline after the request of its last renewal began. Another process can take the lease only
// later, by the lease duration less the renew deadline (5 s).
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
  std::uint64_t generation = 0;  // grows with each change
  bool is_held = false;          // when the view was made
  std::string holder = {};       // as last read; empty: none, or not known
  // Why the last attempt failed; nullopt if it succeeded.
  std::optional<Error> error = std::nullopt;
};

class Lease {
 public:
  // Fails (configuration) for an invalid name or identity, and for timings that do not satisfy
  // lease duration > renew deadline > (1 + jitter) * retry period.
  static Result<std::unique_ptr<Lease>> make(HubClient hub, LeaseSettings settings);

  // Waits for the lease, renews it, and waits again where it is lost; a lease that is not there is
  // created. On `stop` it is given back as client-go's ReleaseOnCancel does, which takes at most
  // two seconds, so all writing must have ended before. Once, by a thread of the caller's.
  void run(const StopEvent& stop);

  // Callable by any thread; does not wait. Becomes false before another process can take the lease.
  bool holds() const { return std::chrono::steady_clock::now() < held_until(); }
  // When holds() turns false unless the lease is renewed; in the past where it is not held. A
  // request that changes something must have ended within lease duration less renew deadline
  // after this.
  std::chrono::steady_clock::time_point held_until() const;

  LeaseView view() const;
  // As soon as there is a generation after `seen`, and at the deadline at the latest.
  LeaseView wait_for_change(std::uint64_t seen,
                            std::chrono::steady_clock::time_point deadline) const;
  // Called after each change by the thread of run(), without a lock held; it must not wait. To be
  // set before run(). That the lease was lost for lack of a renewal is such a change too.
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

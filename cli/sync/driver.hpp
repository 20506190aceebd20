// SPDX-License-Identifier: Apache-2.0
// Keeps the targets up to date with the ClusterProfiles and their plugins: tells the ledger what
// happened, and does what it asks for, in threads.
#pragma once

#include "feed.hpp"
#include "job.hpp"
#include "journal.hpp"
#include "ledger.hpp"
#include "metrics.hpp"
#include "target.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/engine/target.hpp>
#include <execcred/hub/lease.hpp>
#include <execcred/os/stop_event.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace execcred::sync {

struct DriverSettings {
  std::string mapping = {};     // path
  std::string name_space = {};  // -n: targets of other namespaces are not touched
  LedgerRules rules = {};
  Environment environment = {};
};

// The worse of two exit codes: one for a permanent failure takes precedence over one for a failure
// that may pass (3).
int worse_exit_code(int code, int other);

class Driver {
 public:
  struct Parts {
    std::vector<Store*> stores = {};
    std::vector<Target*> targets = {};
    std::unique_ptr<ProfileFeed> feed;
    Journal& journal;
    const StopEvent& stop;
    const Lease* lease = nullptr;  // null: no other process writes
  };

  Driver(DriverSettings settings, Parts parts);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  // Waits for the thread of the feed, so `stop` must have been requested if it watches.
  ~Driver();

  // Reads the mapping. Fails (configuration) if it cannot be used.
  Status read_mapping();
  // Watches the inventory until `stop` is requested.
  Status watch() {
    return parts_.feed->watch([this] { wake(); }, parts_.stop);
  }
  // Scans existing targets. Fails as Store::scan() does.
  Status scan();
  // Reads the mapping, if it has changed, and the inventory. Returns the part of the exit code of a
  // run with --once that the inventory causes: 0, or that of its problems.
  int look();
  // Whether the last look found ClusterProfiles and a mapping that they may be written by.
  bool is_usable() const { return is_usable_; }

  // Does everything that is due once, and returns the exit code: 3 if the Lease was lost meanwhile.
  // Ends early when `stop` is requested.
  int run_round();
  // The lines that describe what run_round() would do.
  std::string plan(bool is_json) const;

  // Runs until `stop` is requested. Fails if existing targets cannot be scanned for a permanent
  // reason and there is no lease.
  Status run();

  // Callable by any thread: something may have changed.
  void wake();
  // Waits until wake() is called, or `stop` is requested.
  void wait();

  Figures figures() const;

 private:
  // Whether the mapping has changed since it was last read. A changed one that cannot be used is
  // reported, and the previous one stays in use.
  bool has_new_mapping();
  void report_once(const Error& error);
  int report(const Picture& picture, const Look& look);
  // Reports, once, what keeps this process from removing anything without being a failure.
  void report_doubts(const Picture& picture, const Look& look);
  void take(const ListedProfile& listed);
  event::Listed resolved(const ListedProfile& listed) const;

  // Tells the ledger, and gives its jobs to the threads. The caller holds mutex_.
  void tell(Event event);
  void count_failures(const std::vector<Failure>& failures);
  void count(const Job& job, const JobResult& result);

  void start_threads();
  void end_threads();
  void work();
  bool may_write() const;
  void follow_clock();
  void sweep();
  // Reports the state of the lease once for each change, and not for each attempt.
  void report_lease(bool is_leading);
  void report_watches();
  Status lead();
  // Waits for something to do, and returns whether the inventory may have changed.
  bool wait_for_work();
  Status step();

  DriverSettings settings_;
  Parts parts_;
  engine::PluginRunner runner_;
  engine::Mapping mapping_;
  std::string mapping_text_;

  mutable std::mutex mutex_;
  std::condition_variable ready_changed_;
  std::condition_variable idle_;
  Ledger ledger_;
  std::deque<Job> jobs_;  // that no thread has taken yet
  TimePoint until_ = kNever;
  std::set<std::string> doubts_;  // that were reported
  // When each error of the inventory was last seen.
  std::map<std::string, std::chrono::steady_clock::time_point> reported_;
  bool is_ending_ = false;
  Figures figures_;
  int round_code_ = 0;
  bool is_looked_at_ = false;
  bool is_usable_ = false;
  bool is_scanned_ = false;  // since this process may write
  Duration clock_ahead_ = {};
  std::chrono::steady_clock::time_point next_sweep_ = {};
  std::optional<bool> was_leading_;  // at the last scan; nullopt before the first
  std::string lease_holder_;         // likewise, another process; empty: none, or not known
  std::string lease_failure_;        // the cause of the one reported last; empty after a success
  std::string watch_failure_;        // likewise, of what was written
  std::chrono::steady_clock::time_point watch_failed_ = {};

  std::mutex wake_mutex_;
  std::condition_variable woken_;
  bool is_woken_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace execcred::sync

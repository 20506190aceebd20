// SPDX-License-Identifier: Apache-2.0
// Keeps the targets up to date with the ClusterProfiles and their plugins: it knows what each
// cluster has and when it is due, and gives the work to threads.
#pragma once

#include "feed.hpp"
#include "job.hpp"
#include "journal.hpp"
#include "schedule.hpp"
#include "target.hpp"

#include "../doctor/target.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/hub/lease.hpp>
#include <execcred/os/stop_event.hpp>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
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

struct ReconcilerSettings {
  std::string instance = {};
  std::string mapping = {};     // path
  std::string name_space = {};  // -n: targets of other namespaces are not touched
  std::size_t parallel = 16;
  RenewalRules renewal = {};
  bool prunes = true;
  bool may_be_empty = false;
  Environment environment = {};
};

// The values of /metrics.
struct ClusterFigures {
  std::string name_space = {};
  std::string name = {};
  std::string provider = {};
  Lifetime lifetime = {};
};
struct Figures {
  std::size_t clusters = 0;  // that are listed
  std::vector<ClusterFigures> credentials = {};
  std::uint64_t renewals = 0;
  std::map<std::string, std::uint64_t, std::less<>> failures = {};  // by cause
  // The upper bounds of the buckets of a histogram, in seconds. plugin_runs_within has the number
  // of plugin runs that took at most this long, in the same order.
  static constexpr std::array<double, 8> kPluginSeconds = {0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10};
  std::array<std::uint64_t, kPluginSeconds.size()> plugin_runs_within = {};
  std::uint64_t plugin_runs = 0;
  double plugin_seconds = 0;
  bool is_watching = false;
  bool is_round_done = false;  // the first one, whole
  bool is_waiting = false;     // for the lease

  bool is_ready() const { return is_round_done || is_waiting; }
};

// The worse of two exit codes: one for a permanent failure takes precedence over one for a failure
// that may pass (3).
int worse_exit_code(int code, int other);

class Reconciler {
 public:
  struct Parts {
    std::vector<Store*> stores = {};
    std::vector<Target*> targets = {};
    std::unique_ptr<ProfileFeed> feed;
    Journal& journal;
    const StopEvent& stop;
    const Lease* lease = nullptr;  // null: no other process writes
  };

  Reconciler(ReconcilerSettings settings, Parts parts);
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;
  // Waits for the thread of the feed, so `stop` must have been requested if it watches.
  ~Reconciler();

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

  // Does everything that is due once, and returns the exit code: 3 if the Lease was lost meanwhile.
  // Ends early when `stop` is requested.
  int run_round();
  // The lines that describe what run_round() would do.
  std::string plan() const;

  // Runs until `stop` is requested. Fails if existing targets cannot be scanned for a permanent
  // reason and there is no lease.
  Status run();

  // Callable by any thread: something may have changed.
  void wake();
  // Waits until wake() is called, or `stop` is requested.
  void wait();

  Figures figures() const;

 private:
  enum class Presence { unknown, listed, gone };
  struct Cluster;
  using Clusters = std::map<std::string, std::unique_ptr<Cluster>, std::less<>>;

  // Whether the mapping has changed since it was last read. A changed one that cannot be used is
  // reported, and the previous one stays in use.
  bool has_new_mapping();
  int report(const Picture& picture);
  bool is_empty(const Picture& picture) const;
  // Reports, once, what keeps this process from removing anything without being a failure.
  void report_doubts(const Picture& picture);
  // Marks the clusters that are in none of the inventory's documents as gone.
  void mark_gone();
  Cluster& cluster_of(const std::string& name_space, const std::string& name);
  void take(const ListedProfile& listed);
  void drop(const std::string& key);
  void resolve(const ListedProfile& listed, Cluster& cluster) const;
  void find_places(Cluster& cluster) const;
  void claim(Cluster& cluster);
  void release(Cluster& cluster);
  void schedule(Cluster& cluster);
  TimePoint due_time(const Cluster& cluster) const;
  TimePoint renewal_time(const Lifetime& lifetime, const Cluster& cluster) const;
  const char* due_reason(const Cluster& cluster) const;
  // Why the place must be written before its renewal; nullptr if it need not be.
  static const char* due_reason(const Cluster& cluster, const Held& place);
  // The places of the cluster that another ClusterProfile has too, or another of its formats.
  std::vector<Clash> clashes_of(const Cluster& cluster) const;
  Job job_of(Cluster& cluster) const;
  void finish(Cluster& cluster, const Job& job, JobResult result);
  void count_failures(const std::vector<Failure>& failures);
  void forget(Cluster& cluster);
  void set_local_failure(Cluster& cluster, bool fails_locally);
  void set_pace();

  void start_threads();
  void end_threads();
  void work();
  bool may_write() const;
  void dispatch(bool is_paced);
  void follow_clock();
  void sweep();
  // Reports the state of the lease once for each change, and not for each attempt.
  void report_lease(bool is_leading);
  void report_watches();
  Status lead();

  ReconcilerSettings settings_;
  Parts parts_;
  doctor::PluginRunner runner_;
  doctor::Mapping mapping_;
  std::string mapping_text_;

  mutable std::mutex mutex_;
  std::condition_variable ready_changed_;
  std::condition_variable idle_;
  Clusters clusters_;
  std::set<Cluster*> absent_;                            // not in the inventory, not marked gone
  std::map<std::string, std::set<std::string>> claims_;  // clusters by place
  std::set<std::pair<TimePoint, Cluster*>> due_;
  std::deque<Cluster*> ready_;
  std::size_t in_flight_ = 0;
  std::size_t local_failures_ = 0;  // clusters whose last run failed by a fault of this machine
  bool may_remove_ = false;
  std::set<std::string> doubts_;  // that were reported
  bool is_ending_ = false;
  RenewalPace pace_;
  Figures figures_;
  int round_code_ = 0;
  std::uint64_t look_ = 0;
  bool is_known_ = false;    // the inventory, at the last scan
  bool is_scanned_ = false;  // since this process may write
  Duration clock_ahead_ = {};
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

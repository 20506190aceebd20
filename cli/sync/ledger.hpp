// SPDX-License-Identifier: Apache-2.0
// What execcred sync knows of each cluster, and what is to be done next: which ClusterProfiles are
// listed, which places they have, when each is due, and what may be removed.
//
// The ledger has values alone: no thread, file, clock, metric or log. The driver (driver.hpp) tells
// it what happened and does what it asks for. Equal events at equal times give equal actions, so
// tests/simulation can play years of them.
#pragma once

#include "work.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace execcred::sync {

inline constexpr TimePoint kNever = TimePoint::max();

// How often to check whether written targets were deleted, and whether the inventory has changed.
inline constexpr std::chrono::seconds kSweep(15);

inline constexpr std::string_view kGone = "its ClusterProfile is gone";
inline constexpr std::string_view kDuplicate = "there are two ClusterProfiles of this name";

struct LedgerRules {
  std::string instance = {};
  std::size_t parallel = 16;  // jobs at a time
  RenewalRules renewal = {};
  bool prunes = true;
  // The inventory has only the ClusterProfiles with certain labels, so an absent one may exist.
  bool is_selection = false;
  bool may_be_empty = false;
  std::uint64_t seed = 0;  // of the pauses after failures
};

// What an inventory and a mapping are found to hold as a whole.
struct Look {
  // All ClusterProfiles were listed, and not only those that changed.
  bool is_all = false;
  bool is_known = false;
  // A ClusterProfile that is not listed has been deleted.
  bool is_whole = false;
  std::size_t count = 0;
  bool has_empty_path = false;  // beside others: it may be a folder that is not mounted
  bool has_providers = true;    // the mapping
  bool is_mapping_valid = true;

  // Whether the inventory or the mapping is empty, which is no reason to remove anything.
  bool is_empty() const { return count == 0 || !has_providers; }
};

namespace event {

// A ClusterProfile is in the inventory, and resolves to this under the mapping.
struct Listed {
  std::string name_space = {};
  std::string name = {};
  std::string uid = {};
  std::string provider = {};
  std::shared_ptr<const Access> access = {};  // null where `problem` says why there is none
  std::optional<Failure> problem = {};
  std::string digest = {};
  std::vector<Held> places = {};  // of the targets; what other places hold is a leftover
  bool lacks_place = false;       // of a target that cannot have one of this name
};
// A ClusterProfile is no longer in the inventory.
struct Dropped {
  std::string cluster = {};
};
// All changes since the last look have been told.
struct Looked {
  Look look = {};
};
// This process may write from now on, and the stores hold this. No job is running.
struct Scanned {
  std::vector<Held> held = {};
};
// No job may begin until the next scan: the Lease is lost, or the process ends.
struct Halted {};
struct Ended {
  Job job = {};
  JobResult result = {};
};
// Somebody else deleted these targets.
struct Deleted {
  std::vector<Held> held = {};
};
// The clock was set, or the machine was asleep.
struct ClockMoved {
  Duration step = {};
};
// What is due by now may begin. If it is paced, many renewals at once are spread.
struct Due {
  bool is_paced = true;
};

}  // namespace event

using Event =
    std::variant<event::Listed, event::Dropped, event::Looked, event::Scanned, event::Halted,
                 event::Ended, event::Deleted, event::ClockMoved, event::Due>;

struct Actions {
  std::vector<Job> jobs = {};  // to be begun at once
  TimePoint until = kNever;    // when event::Due begins more
};

class Ledger {
 public:
  struct Cluster;

  explicit Ledger(LedgerRules rules);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Each job that it returns must end in an event::Ended.
  Actions apply(Event&& event, TimePoint now);

  // Whether nothing runs, or waits for its turn.
  bool is_idle() const { return running_ == 0 && ready_.empty() && retries_.empty(); }
  // Whether something was never done, or must be done at once.
  bool is_behind() const;

  struct ById {
    bool operator()(const Cluster* left, const Cluster* right) const;
  };
  using Clusters = std::map<std::string, std::unique_ptr<Cluster>, std::less<>>;
  const Clusters& clusters() const { return clusters_; }
  bool may_remove() const { return rules_.prunes && may_remove_ && is_mapping_valid_; }
  // Whether the targets of absent ClusterProfiles are removed.
  bool prunes_absent() const;
  // The listed cluster's targets that another program may have deleted. Those that were just
  // written are left out, because a watch may lag behind the last write.
  std::vector<const Held*> settled(TimePoint now) const;
  bool is_renewal_due(const Cluster& cluster, TimePoint now) const;
  // The places of the cluster that another ClusterProfile has too, or another of its formats.
  std::vector<Clash> clashes_of(const Cluster& cluster) const;
  // Why the place must be written before its renewal; nullptr if it need not be.
  static const char* due_reason(const Cluster& cluster, const Held& place);

 private:
  using Order = std::pair<TimePoint, std::uint64_t>;

  void take(event::Listed&& listed);
  void take(const event::Dropped& dropped);
  void take(const event::Looked& looked);
  void take(event::Scanned&& scanned);
  void take(const event::Halted& halted);
  void take(event::Ended&& ended);
  void take(const event::Deleted& deleted);
  void take(const event::ClockMoved& moved);
  void take(const event::Due& due);

  Cluster& cluster_of(const std::string& name_space, const std::string& name);
  static void set_resolution(Cluster& cluster, event::Listed&& listed);
  void claim(Cluster& cluster);
  void release(const Cluster& cluster);
  void ask_claimants(const std::set<std::string>& claimants);
  // Marks the clusters that the whole inventory lacks as gone.
  void mark_gone();
  void ask_refused();
  void forget(Cluster& cluster);

  void schedule(Cluster& cluster);
  TimePoint due_time(const Cluster& cluster) const;
  TimePoint renewal_time(const Lifetime& lifetime, const Cluster& cluster, TimePoint now) const;
  bool is_due_at_once(const Cluster& cluster) const;
  bool has_time(const Cluster& cluster) const;
  TimePoint next_due() const;

  Job job_of(const Cluster& cluster) const;
  TimePoint urgency(const Cluster& cluster) const;
  Cluster* next_ready();
  void begin(Cluster& cluster, Job job);
  void begin_ready();
  void judge(Cluster& cluster, const Job& job, const JobResult& result);
  void judge_failures(Cluster& cluster, const JobResult& result,
                      std::optional<std::chrono::sys_seconds> expires);
  // Removes what a refused cluster holds, if that is allowed now.
  bool revoke(Cluster& cluster);
  void set_local_failure(Cluster& cluster, bool fails_locally);
  void set_pace();

  LedgerRules rules_;
  TimePoint now_ = {};
  std::mt19937_64 random_;
  Clusters clusters_;
  std::uint64_t last_id_ = 0;
  std::set<Cluster*, ById> absent_;  // not in the inventory, not marked gone
  std::unordered_map<std::string, std::set<std::string>> claims_;  // clusters by place
  std::map<Order, Cluster*> due_;
  std::map<Order, Cluster*> ready_;  // by urgency()
  std::deque<Cluster*> retries_;     // likewise ready, after a failure
  std::size_t running_ = 0;
  std::size_t running_retries_ = 0;
  std::size_t local_failures_ = 0;  // clusters whose last run failed by a fault of this machine
  bool may_remove_ = false;
  bool is_mapping_valid_ = false;
  bool may_write_ = false;
  RenewalPace pace_;
  std::uint64_t look_ = 1;
  Actions actions_;
};

struct Ledger::Cluster {
  enum class Presence { unknown, listed, gone };

  std::string key = {};
  std::uint64_t id = 0;
  double spread = 0;  // of its renewals
  Mark mark = {};
  std::string provider = {};
  std::shared_ptr<const Access> access = {};
  std::optional<Failure> problem = {};
  std::vector<Held> held = {};
  std::vector<Held> places = {};
  bool lacks_place = false;
  Presence presence = Presence::unknown;
  std::uint64_t seen = 0;  // the last look that found it
  bool is_duplicate = false;
  std::string_view refusal = {};           // the rule's cause, of the last run
  std::optional<TimePoint> next_ask = {};  // instead of the renewal
  std::size_t failures = 0;                // in a row
  bool fails_locally = false;              // the last one was of this machine
  bool is_queued = false;
  bool is_in_flight = false;
  bool is_retry = false;    // what waits or runs
  bool is_changed = false;  // while it was running
  TimePoint due = kNever;
  TimePoint written = TimePoint::min();

  // The lifetime that ends first, of the credentials at its places.
  std::optional<Lifetime> lifetime() const;
  // The first end of all held credentials that are not marked as ended yet; kNever if there is
  // none.
  TimePoint first_end() const;
  bool is_listed() const { return presence == Presence::listed; }
  bool is_gone() const { return presence == Presence::gone; }
  // Whether a rule forbids the credential. It is stronger than a clash, which anybody could make;
  // of two ClusterProfiles of one name, it is not known which one is refused.
  bool is_refused() const { return problem && problem->is_by_rule && !is_duplicate; }
  bool is_idle() const { return !is_in_flight && !is_queued; }
  bool has_place(const std::string& name) const;
  // Discards the results of earlier jobs, and also that of a running or waiting one.
  void ask_anew();
};

}  // namespace execcred::sync

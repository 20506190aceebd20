// SPDX-License-Identifier: Apache-2.0
#include "ledger.hpp"

#include <execcred/base/assert.hpp>

#include <algorithm>
#include <utility>

namespace execcred::sync {
namespace {

// How long a written target is not checked.
constexpr std::chrono::seconds kSettled(10);
constexpr std::chrono::seconds kShortestPause(1);
// How soon to try again what the pace has delayed.
constexpr std::chrono::milliseconds kPacedWait(100);
constexpr std::chrono::minutes kClockStep(1);
// A smaller step of the clock does not delay a renewal by more than a failure does.
constexpr std::chrono::minutes kClockLeap(5);
// A renewal may be delayed until a ninth of the credential's lifetime is left: a longer delay keeps
// bursts smaller, and a tenth must be left when it is written.
constexpr int kPacedShare = 9;

constexpr std::string_view kClashOfClusters =
    "another ClusterProfile would be written to the same target: ";
constexpr std::string_view kClashOfFormats = "two formats would be written to the same target";

TimePoint shifted(TimePoint time, Duration step) {
  return time == TimePoint::min() ? time : time + step;
}

}  // namespace

std::optional<Lifetime> Ledger::Cluster::lifetime() const {
  std::optional<Lifetime> earliest;
  for (const Held& one : held) {
    if (!has_place(one.place)) continue;
    const Lifetime lifetime{.issued = one.mark.issued, .expires = one.mark.expires};
    const bool is_earlier =
        !earliest ||
        (lifetime.expires && (!earliest->expires || *lifetime.expires < *earliest->expires));
    if (is_earlier) earliest = lifetime;
  }
  return earliest;
}

TimePoint Ledger::Cluster::first_end() const {
  TimePoint first = kNever;
  for (const Held& one : held) {
    if (one.mark.expires && !one.mark.is_expired)
      first = std::min<TimePoint>(first, *one.mark.expires);
  }
  return first;
}

bool Ledger::Cluster::has_place(const std::string& name) const {
  return std::any_of(places.begin(), places.end(),
                     [&](const Held& place) { return place.place == name; });
}

void Ledger::Cluster::ask_anew() {
  next_ask.reset();
  failures = 0;
  is_changed = is_in_flight || is_queued;
}

bool Ledger::ById::operator()(const Cluster* left, const Cluster* right) const {
  return left->id < right->id;
}

Ledger::Ledger(LedgerRules rules) : rules_(std::move(rules)), random_(rules_.seed) {}
Ledger::~Ledger() = default;

Actions Ledger::apply(Event&& event, TimePoint now) {
  now_ = now;
  std::visit([this](auto& one) { take(std::move(one)); }, event);
  begin_ready();
  Actions actions = std::exchange(actions_, {});
  actions.until = next_due();
  return actions;
}

bool Ledger::prunes_absent() const { return rules_.prunes && !rules_.is_selection; }

// The inventory

Ledger::Cluster& Ledger::cluster_of(const std::string& name_space, const std::string& name) {
  const std::string key = name_space + "/" + name;
  std::unique_ptr<Cluster>& cluster = clusters_[key];
  if (!cluster) {
    cluster = std::make_unique<Cluster>();
    cluster->key = key;
    cluster->id = ++last_id_;
    cluster->spread = spread_of(key);
    cluster->mark = {.instance = rules_.instance, .name_space = name_space, .name = name};
    absent_.insert(cluster.get());
  }
  return *cluster;
}

void Ledger::set_resolution(Cluster& cluster, event::Listed&& listed) {
  const bool is_same = listed.digest == cluster.mark.digest && listed.uid == cluster.mark.uid &&
                       listed.problem.has_value() == cluster.problem.has_value() &&
                       (!listed.problem || listed.problem->message == cluster.problem->message);
  cluster.provider = std::move(listed.provider);
  cluster.access = std::move(listed.access);
  cluster.problem = std::move(listed.problem);
  cluster.mark.digest = std::move(listed.digest);
  cluster.mark.uid = std::move(listed.uid);
  cluster.places = std::move(listed.places);
  cluster.lacks_place = listed.lacks_place;
  if (!is_same) cluster.ask_anew();
}

void Ledger::take(event::Listed&& listed) {
  Cluster& cluster = cluster_of(listed.name_space, listed.name);
  if (cluster.seen == look_) {
    cluster.is_duplicate = true;
    schedule(cluster);
    return;
  }
  if (cluster.is_duplicate) cluster.next_ask.reset();
  cluster.seen = look_;
  absent_.erase(&cluster);
  cluster.is_duplicate = false;
  const bool is_new = !cluster.is_listed();
  cluster.presence = Cluster::Presence::listed;
  set_resolution(cluster, std::move(listed));
  if (is_new) cluster.ask_anew();
  if (is_new) claim(cluster);
  schedule(cluster);
}

void Ledger::take(const event::Dropped& dropped) {
  const auto found = clusters_.find(dropped.cluster);
  if (found != clusters_.end()) absent_.insert(found->second.get());
}

void Ledger::take(const event::Looked& looked) {
  const Look& look = looked.look;
  if (look.is_all) {
    for (const auto& [key, cluster] : clusters_) {
      if (cluster->seen != look_ && !cluster->is_gone()) absent_.insert(cluster.get());
    }
  }
  ++look_;
  const bool is_whole = look.is_whole && (rules_.may_be_empty || !look.has_empty_path);
  const bool is_empty = !rules_.may_be_empty && look.is_empty();
  const bool could_remove = may_remove();
  may_remove_ = is_whole && !is_empty;
  is_mapping_valid_ = look.is_mapping_valid;
  if (may_remove_) mark_gone();
  if (!could_remove && may_remove()) ask_refused();
}

// A rule that waited for a complete inventory or a valid mapping is applied now, and not after the
// pause of its failure.
void Ledger::ask_refused() {
  for (const auto& [key, cluster] : clusters_) {
    if (cluster->refusal.empty()) continue;
    cluster->next_ask.reset();
    schedule(*cluster);
  }
}

void Ledger::mark_gone() {
  for (Cluster* const cluster : std::exchange(absent_, {})) {
    if (cluster->is_listed()) release(*cluster);
    cluster->presence = Cluster::Presence::gone;
    cluster->ask_anew();
    if (cluster->held.empty() && cluster->is_idle()) {
      forget(*cluster);
    } else {
      schedule(*cluster);
    }
  }
}

void Ledger::forget(Cluster& cluster) {
  EXECCRED_ASSERT(cluster.held.empty() && cluster.is_idle());
  set_local_failure(cluster, false);
  due_.erase({cluster.due, cluster.id});
  absent_.erase(&cluster);
  clusters_.erase(std::string(cluster.key));
}

// The places

// Two ClusterProfiles with the same place exclude each other.
void Ledger::claim(Cluster& cluster) {
  for (const Held& place : cluster.places) {
    std::set<std::string>& claimants = claims_[place.place];
    claimants.insert(cluster.key);
    if (claimants.size() > 1) ask_claimants(claimants);
  }
}

void Ledger::release(const Cluster& cluster) {
  for (const Held& place : cluster.places) {
    const auto claim = claims_.find(place.place);
    if (claim == claims_.end()) continue;
    claim->second.erase(cluster.key);
    ask_claimants(claim->second);
    if (claim->second.empty()) claims_.erase(claim);
  }
}

void Ledger::ask_claimants(const std::set<std::string>& claimants) {
  for (const std::string& key : claimants) {
    Cluster& cluster = *clusters_.at(key);
    cluster.ask_anew();
    schedule(cluster);
  }
}

std::vector<Clash> Ledger::clashes_of(const Cluster& cluster) const {
  std::vector<Clash> clashes;
  for (const Held& place : cluster.places) {
    const auto claim = claims_.find(place.place);
    const auto has_place = [&](const Held& one) { return one.place == place.place; };
    if (claim != claims_.end() && claim->second.size() > 1) {
      const auto other = std::find_if(claim->second.begin(), claim->second.end(),
                                      [&](const auto& key) { return key != cluster.key; });
      clashes.push_back({.place = place.place, .why = std::string(kClashOfClusters) + *other});
    } else if (std::count_if(cluster.places.begin(), cluster.places.end(), has_place) > 1) {
      clashes.push_back({.place = place.place, .why = std::string(kClashOfFormats)});
    }
  }
  return clashes;
}

// What the stores hold

void Ledger::take(event::Scanned&& scanned) {
  may_write_ = true;
  for (const auto& [key, cluster] : clusters_) {
    cluster->held.clear();
    cluster->next_ask.reset();
    if (!cluster->is_gone()) continue;
    cluster->presence = Cluster::Presence::unknown;
    absent_.insert(cluster.get());
  }
  for (Held& held : scanned.held) {
    Cluster& cluster = cluster_of(held.mark.name_space, held.mark.name);
    cluster.held.push_back(std::move(held));
  }
  for (const auto& [key, cluster] : clusters_) schedule(*cluster);
}

void Ledger::take(const event::Halted& /*halted*/) {
  may_write_ = false;
  for (const auto& [order, cluster] : std::exchange(ready_, {})) retries_.push_back(cluster);
  for (Cluster* const cluster : std::exchange(retries_, {})) {
    cluster->is_queued = cluster->is_retry = false;
    schedule(*cluster);
  }
}

std::vector<const Held*> Ledger::settled(TimePoint now) const {
  std::vector<const Held*> settled;
  for (const auto& [key, cluster] : clusters_) {
    const bool is_fresh = cluster->written > now - kSettled;
    if (!cluster->is_listed() || cluster->is_in_flight || is_fresh) continue;
    for (const Held& held : cluster->held) settled.push_back(&held);
  }
  return settled;
}

void Ledger::take(const event::Deleted& deleted) {
  for (const Held& gone : deleted.held) {
    const auto found = clusters_.find(gone.mark.cluster());
    if (found == clusters_.end() || found->second->is_in_flight) continue;
    Cluster& cluster = *found->second;
    std::erase_if(cluster.held, [&](const Held& held) { return held.place == gone.place; });
    cluster.next_ask.reset();
    schedule(cluster);
  }
  set_pace();
}

// When each is due

const char* Ledger::due_reason(const Cluster& cluster, const Held& place) {
  const auto held = std::find_if(cluster.held.begin(), cluster.held.end(),
                                 [&](const Held& one) { return one.place == place.place; });
  if (held == cluster.held.end()) return "missing";
  if (held->mark.digest != place.mark.digest) return "changed";
  if (!held->mark.is_same_object(cluster.mark)) return "changed";
  return held->mark.is_expired ? "expired" : nullptr;
}

bool Ledger::is_due_at_once(const Cluster& cluster) const {
  if (cluster.problem || cluster.lacks_place || cluster.is_duplicate) return true;
  const bool has_reason =
      std::any_of(cluster.places.begin(), cluster.places.end(),
                  [&](const Held& place) { return due_reason(cluster, place) != nullptr; });
  return has_reason || !clashes_of(cluster).empty();
}

TimePoint Ledger::due_time(const Cluster& cluster) const {
  // The time of the first end: a credential that cannot be renewed is at least marked as ended.
  const TimePoint mark = cluster.first_end();
  if (cluster.presence == Cluster::Presence::unknown) return cluster.next_ask.value_or(mark);
  if (cluster.is_gone()) {
    if (cluster.held.empty()) return kNever;
    return cluster.next_ask.value_or(prunes_absent() ? TimePoint::min() : mark);
  }
  if (cluster.next_ask) return std::min(*cluster.next_ask, mark > now_ ? mark : kNever);
  if (is_due_at_once(cluster)) return TimePoint::min();
  const std::optional<Lifetime> lifetime = cluster.lifetime();
  return lifetime ? renewal_time(*lifetime, cluster, now_) : kNever;
}

TimePoint Ledger::renewal_time(const Lifetime& lifetime, const Cluster& cluster,
                               TimePoint now) const {
  // The clock was set back, so that the end of the credential is not certain.
  if (lifetime.issued > now + kClockStep) return TimePoint::min();
  return renewal_of(lifetime, rules_.renewal, cluster.spread);
}

bool Ledger::is_renewal_due(const Cluster& cluster, TimePoint now) const {
  const std::optional<Lifetime> lifetime = cluster.lifetime();
  return lifetime && renewal_time(*lifetime, cluster, now) <= now;
}

void Ledger::schedule(Cluster& cluster) {
  const TimePoint due = cluster.is_idle() ? due_time(cluster) : kNever;
  if (due == cluster.due) return;
  due_.erase({cluster.due, cluster.id});
  cluster.due = due;
  if (due != kNever) due_.emplace(Order{due, cluster.id}, &cluster);
}

bool Ledger::is_behind() const {
  return !due_.empty() && due_.begin()->first.first == TimePoint::min();
}

TimePoint Ledger::next_due() const {
  if (!may_write_ || due_.empty()) return kNever;
  return std::max(due_.begin()->first.first, now_ + kPacedWait);
}

void Ledger::take(const event::ClockMoved& moved) {
  const bool is_leap = std::chrono::abs(moved.step) >= kClockLeap;
  for (const auto& [key, cluster] : clusters_) {
    cluster->written = shifted(cluster->written, moved.step);
    if (is_leap) {
      cluster->next_ask.reset();
      cluster->failures = 0;
    } else if (cluster->next_ask) {
      *cluster->next_ask += moved.step;
    }
    schedule(*cluster);
  }
}

// Whether the renewal can wait without harm.
bool Ledger::has_time(const Cluster& cluster) const {
  // What was changed or deleted does not wait for a renewal. After a failure, its due time does not
  // say so.
  if (!cluster.is_listed() || cluster.due == TimePoint::min()) return false;
  if (cluster.next_ask && is_due_at_once(cluster)) return false;
  const std::optional<Lifetime> lifetime = cluster.lifetime();
  if (!lifetime || !lifetime->expires) return false;
  return (*lifetime->expires - now_) * kPacedShare > *lifetime->expires - lifetime->issued;
}

void Ledger::set_pace() {
  double mean = 0;
  for (const auto& [key, cluster] : clusters_) {
    const std::optional<Lifetime> lifetime = cluster->lifetime();
    if (!cluster->is_listed() || !lifetime || !lifetime->expires) continue;
    const double seconds =
        std::chrono::duration<double>(*lifetime->expires - lifetime->issued).count();
    if (seconds > 0) mean += 1 / (seconds * rules_.renewal.share);
  }
  pace_.set_mean(mean);
}

void Ledger::take(const event::Due& due) {
  if (!may_write_) return;
  std::vector<Cluster*> begun;
  for (const auto& [order, cluster] : due_) {
    if (order.first > now_) break;
    if (due.is_paced && has_time(*cluster) && !pace_.begin(now_)) continue;
    begun.push_back(cluster);
  }
  for (Cluster* const cluster : begun) {
    due_.erase({cluster->due, cluster->id});
    cluster->due = kNever;
    cluster->is_queued = true;
    // A removal runs no program, so it waits for none.
    cluster->is_retry = cluster->failures > 0 && cluster->is_listed() && !cluster->problem;
    if (cluster->is_retry) {
      retries_.push_back(cluster);
    } else {
      ready_.emplace(Order{urgency(*cluster), cluster->id}, cluster);
    }
  }
}

// The work

// The end of the credential that is to be renewed; what is not a renewal does not wait for one.
TimePoint Ledger::urgency(const Cluster& cluster) const {
  const std::optional<Lifetime> lifetime = cluster.lifetime();
  if (!cluster.is_listed() || !lifetime || is_due_at_once(cluster)) return TimePoint::min();
  return lifetime->expires ? *lifetime->expires : kNever;
}

// The cluster whose turn it is; nullptr if none may begin. Programs that hang take a turn for long,
// so clusters that have failed begin after the others, and take at most half of the turns.
Ledger::Cluster* Ledger::next_ready() {
  const bool may_retry = running_retries_ < std::max<std::size_t>(rules_.parallel / 2, 1);
  if (ready_.empty() && may_retry && !retries_.empty()) {
    Cluster* const cluster = retries_.front();
    retries_.pop_front();
    return cluster;
  }
  return ready_.empty() ? nullptr : ready_.extract(ready_.begin()).mapped();
}

void Ledger::begin_ready() {
  while (may_write_ && running_ < rules_.parallel) {
    Cluster* const cluster = next_ready();
    if (cluster == nullptr) return;
    cluster->is_queued = false;
    begin(*cluster, job_of(*cluster));
  }
}

void Ledger::begin(Cluster& cluster, Job job) {
  EXECCRED_ASSERT(job.kind != Job::Kind::remove || !job.why.empty());
  cluster.is_in_flight = true;
  cluster.is_changed = false;
  ++running_;
  if (cluster.is_retry) ++running_retries_;
  actions_.jobs.push_back(std::move(job));
}

Job Ledger::job_of(const Cluster& cluster) const {
  const std::optional<Lifetime> lifetime = cluster.lifetime();
  Job job{.mark = cluster.mark,
          .provider = cluster.provider,
          .access = cluster.access,
          .problem = cluster.problem,
          .held = cluster.held,
          .lifetime = lifetime,
          .renewal = lifetime ? renewal_time(*lifetime, cluster, now_) : kNever,
          .may_remove = may_remove()};
  // The plugin said when to ask again. After a failure, what is good stays.
  if (cluster.next_ask && cluster.failures == 0) {
    job.renewal = std::min(job.renewal, *cluster.next_ask);
  }
  if (!cluster.is_listed()) {
    const bool is_removal = cluster.is_gone() && prunes_absent();
    job.kind = is_removal ? Job::Kind::remove : Job::Kind::expire;
    job.why = is_removal ? kGone : std::string_view();
    return job;
  }
  job.clashes = clashes_of(cluster);
  const bool clashes_everywhere =
      !job.clashes.empty() && job.clashes.size() == cluster.places.size() && !cluster.lacks_place;
  if (cluster.is_duplicate || (clashes_everywhere && !cluster.is_refused())) {
    job.problem = Failure{
        .cause = cause::kTargetClash,
        .message = cluster.is_duplicate ? std::string(kDuplicate) : job.clashes.front().why,
        .hint = cluster.is_duplicate ? "remove one of them: neither is written"
                                     : "choose other names with --secret-name: neither is written",
        .place = cluster.is_duplicate ? std::string() : job.clashes.front().place};
  }
  return job;
}

void Ledger::set_local_failure(Cluster& cluster, bool fails_locally) {
  if (cluster.fails_locally) --local_failures_;
  if (fails_locally) ++local_failures_;
  cluster.fails_locally = fails_locally;
}

void Ledger::judge_failures(Cluster& cluster, const JobResult& result,
                            std::optional<std::chrono::sys_seconds> expires) {
  set_local_failure(cluster, std::all_of(result.failures.begin(), result.failures.end(),
                                         [](const Failure& failure) { return failure.is_local; }));
  const double share = std::uniform_real_distribution<double>(0.5, 1)(random_);
  cluster.next_ask = cluster.fails_locally ? next_attempt(++cluster.failures, expires, now_, share,
                                                          longest_local_pause(local_failures_))
                                           : next_attempt(++cluster.failures, expires, now_, share);
  cluster.next_ask = std::max(*cluster.next_ask, now_ + result.retry_after);
}

void Ledger::judge(Cluster& cluster, const Job& job, const JobResult& result) {
  const std::optional<Lifetime> lifetime = cluster.lifetime();
  const auto expires = lifetime ? lifetime->expires : std::nullopt;
  if (result.is_interrupted) {
    cluster.next_ask = now_ + kShortestPause;
    return;
  }
  if (!result.failures.empty()) {
    judge_failures(cluster, result, expires);
    return;
  }
  // A refused cluster stays refused, and is asked again after the pause of its refusal.
  if (job.kind == Job::Kind::remove) return;
  set_local_failure(cluster, false);
  cluster.failures = 0;
  cluster.next_ask.reset();
  if (result.claim) {
    cluster.next_ask = std::max<TimePoint>(
        renewal_of(*result.claim, rules_.renewal, cluster.spread), now_ + kShortestPause);
  } else if (result.is_same_credential) {
    cluster.next_ask = next_question(expires, now_);
  }
}

bool Ledger::revoke(Cluster& cluster) {
  const bool is_refused = cluster.is_listed() && !cluster.refusal.empty();
  if (!is_refused || !may_remove() || !may_write_ || cluster.held.empty()) return false;
  Job job = job_of(cluster);
  job.kind = Job::Kind::remove;
  job.why = cluster.refusal;
  begin(cluster, std::move(job));
  return true;
}

void Ledger::take(event::Ended&& ended) {
  const auto& [job, result] = ended;
  Cluster& cluster = *clusters_.at(job.mark.cluster());
  --running_;
  if (std::exchange(cluster.is_retry, false)) --running_retries_;
  cluster.is_in_flight = false;
  cluster.held = std::move(ended.result.held);
  if (result.writes > 0) cluster.written = now_;
  judge(cluster, job, result);
  const bool is_changed = std::exchange(cluster.is_changed, false);
  if (is_changed) cluster.next_ask.reset();
  if (job.kind == Job::Kind::renew) {
    const auto refusal = std::find_if(result.failures.begin(), result.failures.end(),
                                      [](const Failure& one) { return one.is_by_rule; });
    // What was asked before a change says nothing about what is listed now.
    const bool is_refused = refusal != result.failures.end() && !is_changed;
    cluster.refusal = is_refused ? refusal->cause : std::string_view();
    if (revoke(cluster)) return;
  }
  if (cluster.is_gone() && cluster.held.empty()) {
    forget(cluster);
  } else {
    schedule(cluster);
  }
}

}  // namespace execcred::sync

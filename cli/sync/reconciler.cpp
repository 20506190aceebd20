// SPDX-License-Identifier: Apache-2.0
#include "reconciler.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/kube/provider_mapping.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace execcred::sync {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr TimePoint kNever = TimePoint::max();
// How often to check whether written targets were deleted, and whether the inventory has changed.
constexpr std::chrono::seconds kSweep(15);
// How long a written target is not checked, because a watch may lag behind the last write.
constexpr std::chrono::seconds kSettled(10);
constexpr std::chrono::milliseconds kLongestWait(1000);
constexpr std::chrono::milliseconds kPacedWait(100);
constexpr std::chrono::seconds kScanPause(5);
constexpr std::chrono::minutes kClockStep(1);
constexpr std::chrono::seconds kClockJitter(1);
// A smaller step of the clock does not delay a renewal by more than a failure does.
constexpr std::chrono::minutes kClockLeap(5);
// A renewal may be delayed until a ninth of the credential's lifetime is left: a longer delay keeps
// bursts smaller, and a tenth must be left when it is written.
constexpr int kPacedShare = 9;

constexpr std::string_view kDuplicate = "there are two ClusterProfiles of this name";
constexpr std::string_view kClashOfClusters =
    "another ClusterProfile would be written to the same target";
constexpr std::string_view kClashOfFormats = "two formats would be written to the same target";

TimePoint now() { return SystemClock().now(); }

// The time of the system clock less that of the steady clock. It changes when the clock is set, or
// when the machine was asleep.
Duration clock_ahead() { return now().time_since_epoch() - SteadyClock::now().time_since_epoch(); }

}  // namespace

int worse_exit_code(int code, int other) {
  if (code == 0 || other == 0) return code + other;
  return code == 3 ? other : code;
}

struct Reconciler::Cluster {
  std::string key = {};
  Mark mark = {};
  std::string provider = {};
  std::shared_ptr<const Access> access = {};
  std::optional<Failure> problem = {};
  std::vector<Held> held = {};
  std::vector<Held> places = {};  // of the targets; what other places hold is a leftover
  bool lacks_place = false;       // of a target that cannot have one of this name
  Presence presence = Presence::unknown;
  std::uint64_t seen = 0;  // the last scan that found it
  bool is_duplicate = false;
  bool is_refused = false;                 // by a rule, in the last job
  std::optional<TimePoint> next_ask = {};  // instead of the renewal
  std::size_t failures = 0;                // in a row
  bool fails_locally = false;              // the last one was of this machine
  bool is_queued = false;
  bool is_in_flight = false;
  bool is_changed = false;  // while it was running
  TimePoint due = kNever;
  SteadyClock::time_point written = {};

  // The lifetime that ends first, of the credentials at its places.
  std::optional<Lifetime> lifetime() const {
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
  // The first end of all held credentials that are not marked as ended yet; kNever if there is
  // none.
  TimePoint first_end() const {
    TimePoint first = kNever;
    for (const Held& one : held) {
      if (one.mark.expires && !one.mark.is_expired)
        first = std::min<TimePoint>(first, *one.mark.expires);
    }
    return first;
  }
  bool is_listed() const { return presence == Presence::listed; }
  bool is_idle() const { return !is_in_flight && !is_queued; }
  bool has_place(const std::string& name) const {
    return std::any_of(places.begin(), places.end(),
                       [&](const Held& place) { return place.place == name; });
  }

  // Discards the results of earlier jobs, and also that of a running or waiting one.
  void ask_anew() {
    next_ask.reset();
    failures = 0;
    is_changed = is_in_flight || is_queued;
  }
};

Reconciler::Reconciler(ReconcilerSettings settings, Parts parts)
    : settings_(std::move(settings)),
      parts_(std::move(parts)),
      runner_(settings_.environment, {.stop = parts_.stop.descriptor()}) {}

Reconciler::~Reconciler() {
  end_threads();
  // Its thread calls wake().
  parts_.feed.reset();
}

Status Reconciler::read_mapping() {
  // The text is read first: if the file changes in between, the next look finds another text.
  const Result<std::string> text = read_file(settings_.mapping, kMaxMapping);
  mapping_ = TRY(doctor::Mapping::load(settings_.mapping));
  if (text) mapping_text_ = *text;
  return {};
}

Reconciler::Cluster& Reconciler::cluster_of(const std::string& name_space,
                                            const std::string& name) {
  const std::string key = name_space + "/" + name;
  std::unique_ptr<Cluster>& cluster = clusters_[key];
  if (!cluster) {
    cluster = std::make_unique<Cluster>();
    cluster->key = key;
    cluster->mark = {.instance = settings_.instance, .name_space = name_space, .name = name};
    find_places(*cluster);
    absent_.insert(cluster.get());
  }
  return *cluster;
}

// Finds the places of the cluster. Called after each change of its mark, which the places contain.
void Reconciler::find_places(Cluster& cluster) const {
  cluster.places.clear();
  cluster.lacks_place = false;
  for (Target* const target : parts_.targets) {
    Result<Held> place = target->place_of(cluster.mark);
    if (place) {
      cluster.places.push_back(std::move(*place));
    } else {
      cluster.lacks_place = true;
    }
  }
}

Status Reconciler::scan() {
  std::vector<Held> all;
  for (Store* const store : parts_.stores) {
    std::vector<Held> held = TRY(store->scan());
    std::move(held.begin(), held.end(), std::back_inserter(all));
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [key, cluster] : clusters_) {
    cluster->held.clear();
    cluster->next_ask.reset();
    if (cluster->presence != Presence::gone) continue;
    cluster->presence = Presence::unknown;
    absent_.insert(cluster.get());
  }
  for (Held& held : all) {
    const bool is_chosen =
        settings_.name_space.empty() || held.mark.name_space == settings_.name_space;
    if (!is_chosen) continue;
    Cluster& cluster = cluster_of(held.mark.name_space, held.mark.name);
    cluster.held.push_back(std::move(held));
  }
  for (const auto& [key, cluster] : clusters_) schedule(*cluster);
  return {};
}

// Registers the cluster's places. Two ClusterProfiles with the same place exclude each other.
void Reconciler::claim(Cluster& cluster) {
  for (const Held& place : cluster.places) {
    std::set<std::string>& claimants = claims_[place.place];
    claimants.insert(cluster.key);
    if (claimants.size() < 2) continue;
    for (const std::string& key : claimants) {
      const auto other = clusters_.find(key);
      if (other == clusters_.end()) continue;
      other->second->next_ask.reset();
      schedule(*other->second);
    }
  }
}

void Reconciler::release(Cluster& cluster) {
  for (const Held& place : cluster.places) {
    const auto claim = claims_.find(place.place);
    if (claim == claims_.end()) continue;
    claim->second.erase(cluster.key);
    for (const std::string& key : claim->second) {
      const auto other = clusters_.find(key);
      if (other == clusters_.end()) continue;
      other->second->next_ask.reset();
      schedule(*other->second);
    }
    if (claim->second.empty()) claims_.erase(claim);
  }
}

std::vector<Clash> Reconciler::clashes_of(const Cluster& cluster) const {
  std::vector<Clash> clashes;
  for (const Held& place : cluster.places) {
    const auto claim = claims_.find(place.place);
    const auto has_place = [&](const Held& one) { return one.place == place.place; };
    if (claim != claims_.end() && claim->second.size() > 1) {
      clashes.push_back({.place = place.place, .why = kClashOfClusters});
    } else if (std::count_if(cluster.places.begin(), cluster.places.end(), has_place) > 1) {
      clashes.push_back({.place = place.place, .why = kClashOfFormats});
    }
  }
  return clashes;
}

void Reconciler::resolve(const ListedProfile& listed, Cluster& cluster) const {
  const ProfileName name{.name_space = listed.name_space, .name = listed.name};
  doctor::Target target = listed.profile ? doctor::target_of(mapping_, *listed.profile, {})
                                         : doctor::target_of(name, listed.profile.error());
  const doctor::Step* const step = target.item.cause_step();
  std::shared_ptr<const Access> access;
  std::optional<Failure> problem;
  if (target.access) {
    target.access->cluster_profile = cluster.key;
    access = std::make_shared<const Access>(std::move(*target.access));
  } else {
    const std::string_view cause = step == nullptr ? execcred::cause::kProfileInvalid : step->cause;
    problem = Failure{.cause = cause,
                      .message = step == nullptr ? "it cannot be used" : step->message,
                      .hint = step == nullptr ? std::string() : step->hint,
                      .is_unavailability = doctor::is_unavailability(cause)};
  }
  std::string digest = access ? digest_of(*access) : std::string();
  const bool is_same = digest == cluster.mark.digest && listed.uid == cluster.mark.uid &&
                       problem.has_value() == cluster.problem.has_value() &&
                       (!problem || problem->message == cluster.problem->message);
  cluster.provider = target.item.provider;
  cluster.access = std::move(access);
  cluster.problem = std::move(problem);
  cluster.mark.digest = std::move(digest);
  cluster.mark.uid = listed.uid;
  if (is_same) return;
  find_places(cluster);
  cluster.ask_anew();
}

void Reconciler::take(const ListedProfile& listed) {
  if (!is_dns1123_label(listed.name_space) || !is_dns1123_subdomain(listed.name)) {
    const Failure failure{.cause = execcred::cause::kProfileInvalid,
                          .message = in_quotes(listed.name_space + "/" + listed.name) +
                                     " is no name of a ClusterProfile"};
    parts_.journal.write(Level::error, failure.message);
    count_failures({failure});
    return;
  }
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
  cluster.presence = Presence::listed;
  resolve(listed, cluster);
  if (is_new) cluster.ask_anew();
  if (is_new) claim(cluster);
  schedule(cluster);
}

void Reconciler::drop(const std::string& key) {
  const auto found = clusters_.find(key);
  if (found != clusters_.end()) absent_.insert(found->second.get());
}

bool Reconciler::has_new_mapping() {
  const Result<std::string> text = read_file(settings_.mapping, kMaxMapping);
  if (text && *text == mapping_text_) return false;
  Result<doctor::Mapping> mapping = doctor::Mapping::load(settings_.mapping);
  if (text) mapping_text_ = *text;
  if (!mapping) {
    parts_.journal.write(Level::error, mapping.error());
    return false;
  }
  mapping_ = std::move(*mapping);
  parts_.journal.write(Level::info, "the mapping has changed");
  return true;
}

int Reconciler::report(const Picture& picture) {
  int code = 0;
  if (picture.failure) {
    parts_.journal.write(Level::error, *picture.failure);
    code = exit_code(picture.failure->kind);
  }
  for (const Error& problem : picture.problems) {
    parts_.journal.write(Level::error, problem);
    code = worse_exit_code(code, 1);
  }
  if (picture.is_known && is_empty(picture)) code = 2;
  return picture.is_known || code != 0 ? code : 3;
}

void Reconciler::report_doubts(const Picture& picture) {
  std::set<std::string> doubts;
  const auto report = [&](Level level, const std::string& what, std::string_view hint) {
    doubts.insert(what);
    if (doubts_.count(what) == 0) parts_.journal.write(level, what, {{"hint", std::string(hint)}});
  };
  for (const std::string& file : picture.empty_files) {
    report(Level::warning, in_quotes(file) + " is an empty file",
           "nothing is removed while it is empty: write its content, or remove it");
  }
  if (!settings_.may_be_empty) {
    if (picture.is_known && picture.count == 0) {
      report(Level::error, "the inventory holds no ClusterProfile",
             "nothing is written or removed; --allow-empty accepts an empty inventory");
    }
    if (mapping_.providers.providers.empty()) {
      report(Level::error, "the mapping " + in_quotes(settings_.mapping) + " has no provider",
             "nothing is written or removed; --allow-empty accepts a mapping without providers");
    }
    for (const std::string& path : picture.empty_paths) {
      report(Level::warning, in_quotes(path) + " holds no ClusterProfile",
             "nothing is removed; --allow-empty accepts a path without ClusterProfiles");
    }
  }
  doubts_ = std::move(doubts);
}

// Whether the inventory or the mapping became empty, which is no reason to remove anything.
bool Reconciler::is_empty(const Picture& picture) const {
  return !settings_.may_be_empty && (picture.count == 0 || mapping_.providers.providers.empty());
}

void Reconciler::mark_gone() {
  for (Cluster* const cluster : std::exchange(absent_, {})) {
    if (cluster->is_listed()) release(*cluster);
    cluster->presence = Presence::gone;
    cluster->ask_anew();
    if (cluster->held.empty() && cluster->is_idle()) {
      forget(*cluster);
    } else {
      schedule(*cluster);
    }
  }
}

int Reconciler::look() {
  const std::lock_guard lock(mutex_);
  const bool is_anew = has_new_mapping();
  ++look_;
  const Picture picture =
      parts_.feed->read(is_anew, {.take = [this](const ListedProfile& listed) { take(listed); },
                                  .drop = [this](const std::string& key) { drop(key); }});
  is_known_ = picture.is_known;
  const int code = report(picture);
  report_doubts(picture);
  if (picture.is_all) {
    for (const auto& [key, cluster] : clusters_) {
      if (cluster->seen != look_ && cluster->presence != Presence::gone) {
        absent_.insert(cluster.get());
      }
    }
  }
  const bool is_whole = picture.is_whole && (settings_.may_be_empty || picture.empty_paths.empty());
  const bool could_remove = std::exchange(may_remove_, is_whole && !is_empty(picture));
  if (may_remove_) mark_gone();
  // A rule that waited for a complete inventory is applied now, and not after the pause of its
  // failure.
  if (may_remove_ && !could_remove) {
    for (const auto& [key, cluster] : clusters_) {
      if (!cluster->is_refused) continue;
      cluster->next_ask.reset();
      schedule(*cluster);
    }
  }
  return code;
}

const char* Reconciler::due_reason(const Cluster& cluster, const Held& place) {
  const auto held = std::find_if(cluster.held.begin(), cluster.held.end(),
                                 [&](const Held& one) { return one.place == place.place; });
  if (held == cluster.held.end()) return "missing";
  if (held->mark.digest != place.mark.digest) return "changed";
  if (!held->mark.is_same_object(cluster.mark)) return "changed";
  return held->mark.is_expired ? "expired" : nullptr;
}

const char* Reconciler::due_reason(const Cluster& cluster) const {
  if (cluster.presence == Presence::gone) return "its ClusterProfile is gone";
  if (cluster.problem) return "it cannot be resolved";
  if (cluster.lacks_place) return "missing";
  for (const Held& place : cluster.places) {
    if (const char* const reason = due_reason(cluster, place)) return reason;
  }
  return nullptr;
}

TimePoint Reconciler::due_time(const Cluster& cluster) const {
  const std::optional<Lifetime> lifetime = cluster.lifetime();
  // The time of the first end: a credential that cannot be renewed is at least marked as ended.
  const TimePoint mark = cluster.first_end();
  if (cluster.presence == Presence::unknown) return cluster.next_ask.value_or(mark);
  if (cluster.presence == Presence::gone) {
    if (cluster.held.empty()) return kNever;
    return cluster.next_ask.value_or(settings_.prunes ? TimePoint::min() : mark);
  }
  if (cluster.next_ask) return std::min(*cluster.next_ask, mark > now() ? mark : kNever);
  if (due_reason(cluster) != nullptr || cluster.is_duplicate) return TimePoint::min();
  if (!clashes_of(cluster).empty()) return TimePoint::min();
  return renewal_time(*lifetime, cluster);
}

TimePoint Reconciler::renewal_time(const Lifetime& lifetime, const Cluster& cluster) const {
  // The clock was set back, so that the end of the credential is not certain.
  if (lifetime.issued > now() + kClockStep) return TimePoint::min();
  return renewal_of(lifetime, settings_.renewal, cluster.key);
}

void Reconciler::schedule(Cluster& cluster) {
  const TimePoint due = cluster.is_idle() ? due_time(cluster) : kNever;
  if (due == cluster.due) return;
  due_.erase({cluster.due, &cluster});
  cluster.due = due;
  if (due != kNever) due_.emplace(due, &cluster);
}

void Reconciler::forget(Cluster& cluster) {
  set_local_failure(cluster, false);
  due_.erase({cluster.due, &cluster});
  absent_.erase(&cluster);
  clusters_.erase(std::string(cluster.key));
}

Job Reconciler::job_of(Cluster& cluster) const {
  const std::optional<Lifetime> lifetime = cluster.lifetime();
  Job job{.mark = cluster.mark,
          .provider = cluster.provider,
          .access = cluster.access,
          .problem = cluster.problem,
          .held = cluster.held,
          .lifetime = lifetime,
          .renewal = lifetime ? renewal_time(*lifetime, cluster) : kNever,
          .may_remove = settings_.prunes && may_remove_};
  // The plugin said when to ask again. After a failure, what is good stays.
  if (cluster.next_ask && cluster.failures == 0) {
    job.renewal = std::min(job.renewal, *cluster.next_ask);
  }
  if (!cluster.is_listed()) {
    const bool is_removal = cluster.presence == Presence::gone && settings_.prunes;
    job.kind = is_removal ? Job::Kind::remove : Job::Kind::expire;
    return job;
  }
  job.clashes = clashes_of(cluster);
  if (cluster.is_duplicate || job.clashes.size() == parts_.targets.size()) {
    job.problem = Failure{
        .cause = cause::kTargetClash,
        .message = std::string(cluster.is_duplicate ? kDuplicate : job.clashes.front().why),
        .hint = cluster.is_duplicate ? "remove one of them: neither is written"
                                     : "choose other names with --secret-name: neither is written"};
  }
  return job;
}

void Reconciler::count_failures(const std::vector<Failure>& failures) {
  for (const Failure& failure : failures) {
    const std::string_view cause =
        failure.cause.empty() ? execcred::cause::kProgramFailed : failure.cause;
    ++figures_.failures[std::string(cause)];
    round_code_ = worse_exit_code(round_code_, failure.is_unavailability ? 3 : 1);
  }
}

void Reconciler::set_local_failure(Cluster& cluster, bool fails_locally) {
  if (cluster.fails_locally) --local_failures_;
  if (fails_locally) ++local_failures_;
  cluster.fails_locally = fails_locally;
}

void Reconciler::finish(Cluster& cluster, const Job& job, JobResult result) {
  cluster.is_in_flight = false;
  cluster.held = std::move(result.held);
  if (result.writes > 0) cluster.written = SteadyClock::now();
  if (job.kind == Job::Kind::renew && result.lifetime && result.writes > 0) ++figures_.renewals;
  if (result.plugin_time) {
    const double seconds = std::chrono::duration<double>(*result.plugin_time).count();
    ++figures_.plugin_runs;
    figures_.plugin_seconds += seconds;
    for (std::size_t i = 0; i < Figures::kPluginSeconds.size(); ++i) {
      if (seconds <= Figures::kPluginSeconds.at(i)) ++figures_.plugin_runs_within.at(i);
    }
  }
  count_failures(result.failures);
  cluster.is_refused =
      std::any_of(result.failures.begin(), result.failures.end(),
                  [](const Failure& failure) { return is_by_rule(failure.cause); });
  const std::optional<Lifetime> lifetime = cluster.lifetime();
  const auto expires = lifetime ? lifetime->expires : std::nullopt;
  cluster.next_ask.reset();
  if (result.is_interrupted) {
    cluster.next_ask = now() + kLongestWait;
    if (!parts_.stop.is_requested()) round_code_ = worse_exit_code(round_code_, 3);
  } else if (!result.failures.empty()) {
    set_local_failure(cluster,
                      std::all_of(result.failures.begin(), result.failures.end(),
                                  [](const Failure& failure) { return failure.is_local; }));
    cluster.next_ask = cluster.fails_locally ? next_attempt(++cluster.failures, expires, now(),
                                                            longest_local_pause(local_failures_))
                                             : next_attempt(++cluster.failures, expires, now());
  } else {
    set_local_failure(cluster, false);
    cluster.failures = 0;
    if (result.claim) {
      cluster.next_ask = std::max<TimePoint>(
          renewal_of(*result.claim, settings_.renewal, cluster.key), now() + kLongestWait);
    } else if (result.is_same_credential) {
      cluster.next_ask = next_question(expires, now());
    }
  }
  if (std::exchange(cluster.is_changed, false)) cluster.next_ask.reset();
  // The inventory became complete while the job ran.
  const bool may_remove_now = settings_.prunes && may_remove_ && !job.may_remove;
  if (cluster.is_refused && may_remove_now) cluster.next_ask.reset();
  if (cluster.presence == Presence::gone && cluster.held.empty()) {
    forget(cluster);
  } else {
    schedule(cluster);
  }
}

bool Reconciler::may_write() const {
  return !parts_.stop.is_requested() && (parts_.lease == nullptr || parts_.lease->holds());
}

void Reconciler::start_threads() {
  while (threads_.size() < settings_.parallel) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;
      return;  // fewer do it too
    }
  }
}

void Reconciler::end_threads() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ready_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Reconciler::work() {
  const JobTools tools{.targets = parts_.targets,
                       .runner = runner_,
                       .environment = settings_.environment,
                       .journal = parts_.journal,
                       .may_write = [this] { return may_write(); },
                       .is_stopped = [this] { return parts_.stop.is_requested(); }};
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_changed_.wait(lock, [this] { return is_ending_ || !ready_.empty(); });
    if (is_ending_) return;
    Cluster& cluster = *ready_.front();
    ready_.pop_front();
    cluster.is_queued = false;
    cluster.is_in_flight = true;
    cluster.is_changed = false;
    ++in_flight_;
    const Job job = job_of(cluster);
    lock.unlock();
    JobResult result;
    if (may_write()) {
      result = do_job(job, tools);
    } else {
      result.held = job.held;
      result.is_interrupted = true;
    }
    lock.lock();
    finish(cluster, job, std::move(result));
    --in_flight_;
    idle_.notify_all();
  }
}

void Reconciler::dispatch(bool is_paced) {
  const TimePoint time = now();
  std::vector<Cluster*> begun;
  for (const auto& [due, cluster] : due_) {
    if (due > time) break;
    const std::optional<Lifetime> lifetime = cluster->lifetime();
    const bool has_time =
        lifetime && lifetime->expires && cluster->is_listed() && due != TimePoint::min() &&
        (*lifetime->expires - time) * kPacedShare > *lifetime->expires - lifetime->issued;
    if (is_paced && has_time && !pace_.begin(time)) continue;
    begun.push_back(cluster);
  }
  for (Cluster* const cluster : begun) {
    due_.erase({cluster->due, cluster});
    cluster->due = kNever;
    cluster->is_queued = true;
    ready_.push_back(cluster);
  }
  if (!begun.empty()) ready_changed_.notify_all();
}

int Reconciler::run_round() {
  start_threads();
  std::unique_lock lock(mutex_);
  dispatch(false);
  idle_.wait(lock, [this] {
    if (parts_.stop.is_requested()) ready_.clear();
    return ready_.empty() && in_flight_ == 0;
  });
  return round_code_;
}

std::string Reconciler::plan() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  const auto add = [&text](std::string_view verb, const std::string& what, std::string_view why) {
    text += std::string(verb) + " " + what + ": " + std::string(why) + "\n";
  };
  for (const auto& [key, cluster] : clusters_) {
    if (cluster->due > now()) continue;
    const bool is_refused = cluster->problem && is_by_rule(cluster->problem->cause) && may_remove_;
    if (cluster->presence == Presence::gone || is_refused) {
      if (!settings_.prunes) continue;
      const std::string why =
          is_refused ? cluster->problem->message : std::string("its ClusterProfile is gone");
      for (const Held& held : cluster->held) add("remove", held.place, why);
    }
    if (!cluster->is_listed()) continue;
    if (cluster->problem || cluster->is_duplicate) {
      add("skip", key, cluster->is_duplicate ? kDuplicate : cluster->problem->message);
      continue;
    }
    const std::vector<Clash> clashes = clashes_of(*cluster);
    const std::optional<Lifetime> lifetime = cluster->lifetime();
    const bool is_renewal = lifetime && renewal_time(*lifetime, *cluster) <= now();
    for (Target* const target : parts_.targets) {
      const Result<Held> place = target->place_of(cluster->mark);
      if (!place) {
        add("skip", key, place.error().message);
        continue;
      }
      const auto clash = std::find_if(clashes.begin(), clashes.end(),
                                      [&](const Clash& one) { return one.place == place->place; });
      if (clash != clashes.end()) {
        add("skip", place->place, clash->why);
        continue;
      }
      const char* const reason = due_reason(*cluster, *place);
      // The credential of the other places stays.
      if (reason == nullptr && !is_renewal) continue;
      const bool is_there =
          std::any_of(cluster->held.begin(), cluster->held.end(),
                      [&](const Held& held) { return held.place == place->place; });
      if (!is_there && target->is_foreign(*place)) {
        add("skip", place->place, "it is not this instance's");
        continue;
      }
      add(is_there ? "renew" : "create", place->place, reason == nullptr ? "due" : reason);
    }
  }
  return text;
}

void Reconciler::set_pace() {
  double mean = 0;
  for (const auto& [key, cluster] : clusters_) {
    const std::optional<Lifetime> lifetime = cluster->lifetime();
    if (!cluster->is_listed() || !lifetime || !lifetime->expires) continue;
    const double seconds =
        std::chrono::duration<double>(*lifetime->expires - lifetime->issued).count();
    if (seconds > 0) mean += 1 / (seconds * settings_.renewal.share);
  }
  pace_.set_mean(mean);
}

void Reconciler::sweep() {
  const std::lock_guard lock(mutex_);
  const auto settled = SteadyClock::now() - kSettled;
  for (const auto& [key, cluster] : clusters_) {
    if (!cluster->is_listed() || cluster->is_in_flight || cluster->written > settled) continue;
    const std::size_t gone =
        std::erase_if(cluster->held, [](const Held& held) { return held.store->is_gone(held); });
    if (gone == 0) continue;
    cluster->next_ask.reset();
    schedule(*cluster);
  }
  set_pace();
}

// Schedules all clusters again after a change of the clock: a pause ends at a time that may then be
// years away, so it moves with the clock.
void Reconciler::follow_clock() {
  const Duration ahead = clock_ahead();
  const Duration step = ahead - std::exchange(clock_ahead_, ahead);
  if (std::chrono::abs(step) < kClockJitter) return;
  const bool is_leap = std::chrono::abs(step) >= kClockLeap;
  if (is_leap) {
    parts_.journal.write(Level::warning, "the clock was set, or this machine was asleep",
                         {{"by", format_duration(std::chrono::round<std::chrono::seconds>(step))}});
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [key, cluster] : clusters_) {
    if (is_leap) {
      cluster->next_ask.reset();
      cluster->failures = 0;
    } else if (cluster->next_ask) {
      *cluster->next_ask += step;
    }
    schedule(*cluster);
  }
}

void Reconciler::wake() {
  {
    const std::lock_guard lock(wake_mutex_);
    is_woken_ = true;
  }
  woken_.notify_one();
}

void Reconciler::wait() {
  std::unique_lock lock(wake_mutex_);
  while (!is_woken_ && !parts_.stop.is_requested()) woken_.wait_for(lock, kLongestWait);
  is_woken_ = false;
}

// Scans what other processes wrote, before this one writes. Fails as scan() does, for a permanent
// reason and without a lease.
Status Reconciler::lead() {
  {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return in_flight_ == 0 && ready_.empty(); });
  }
  Status scanned = scan();
  is_scanned_ = scanned.has_value();
  // The targets that were found are compared with the inventory.
  if (scanned) wake();
  if (scanned) return {};
  if (scanned.error().kind != Error::Kind::unavailable && parts_.lease == nullptr) return scanned;
  parts_.journal.write(Level::error, scanned.error());
  parts_.stop.wait_until(SteadyClock::now() + kScanPause);
  return {};
}

void Reconciler::report_lease(bool is_leading) {
  if (parts_.lease == nullptr) return;
  const LeaseView view = parts_.lease->view();
  // This process may be the holder already, or the last one that was.
  const bool is_other = !is_leading && view.holder != parts_.lease->identity();
  const std::string holder = is_other ? view.holder : "";
  if (is_leading != was_leading_ || holder != lease_holder_) {
    parts_.journal.write(Level::info,
                         is_leading ? "this process holds the Lease" : "waiting for the Lease",
                         {{"holder", holder}});
  }
  was_leading_ = is_leading;
  lease_holder_ = holder;
  const std::string failure = view.error ? std::string(cause_of(*view.error)) : "";
  if (view.error && failure != lease_failure_) parts_.journal.write(Level::error, *view.error);
  lease_failure_ = failure;
}

void Reconciler::report_watches() {
  bool is_up = parts_.feed->is_up();
  std::optional<Error> error;
  for (const Store* const store : parts_.stores) {
    Store::Watching watching = store->watching();
    is_up = is_up && watching.is_up;
    if (watching.error) error = std::move(watching.error);
  }
  const auto time = SteadyClock::now();
  if (error) watch_failed_ = time;
  // A watch that fails repeatedly works in between, so a failure is reported again only after a
  // time without failures.
  if (time - watch_failed_ > kSweep) watch_failure_.clear();
  const bool is_new = error && error->cause != watch_failure_;
  if (is_new) watch_failure_ = error->cause;
  if (is_new) parts_.journal.write(Level::error, *error);
  const std::lock_guard lock(mutex_);
  figures_.is_watching = is_up;
  if (is_new) ++figures_.failures[watch_failure_];
}

Status Reconciler::run() {
  start_threads();
  auto next_sweep = SteadyClock::now() + kSweep;
  bool is_looked_at = false;
  clock_ahead_ = clock_ahead();
  Status led;
  while (led && !parts_.stop.is_requested()) {
    bool is_woken = false;
    {
      std::unique_lock lock(wake_mutex_);
      if (!is_woken_) woken_.wait_for(lock, kPacedWait);
      is_woken = std::exchange(is_woken_, false);
    }
    follow_clock();
    const bool is_time = SteadyClock::now() >= next_sweep;
    if (is_woken || is_time) {
      look();
      is_looked_at = is_looked_at || is_known_;
    }
    if (is_time) {
      sweep();
      next_sweep = SteadyClock::now() + kSweep;
    }
    report_watches();
    const bool is_leading = parts_.lease == nullptr || parts_.lease->holds();
    report_lease(is_leading);
    if (!is_leading) is_scanned_ = false;
    if (is_leading && !is_scanned_) led = lead();
    const std::lock_guard lock(mutex_);
    figures_.is_waiting = !is_leading;
    if (!is_leading || !is_scanned_) continue;
    dispatch(true);
    const bool is_quiet = ready_.empty() && in_flight_ == 0;
    const bool is_behind = !due_.empty() && due_.begin()->first == TimePoint::min();
    if (is_looked_at && is_quiet && !is_behind) figures_.is_round_done = true;
  }
  end_threads();
  return led;
}

Figures Reconciler::figures() const {
  const std::lock_guard lock(mutex_);
  Figures figures = figures_;
  for (const auto& [key, cluster] : clusters_) {
    if (!cluster->is_listed()) continue;
    ++figures.clusters;
    // What this process knew before another process renewed the credentials is out of date.
    if (figures_.is_waiting) continue;
    const std::optional<Lifetime> lifetime = cluster->lifetime();
    if (!lifetime) continue;
    figures.credentials.push_back({.name_space = cluster->mark.name_space,
                                   .name = cluster->mark.name,
                                   .provider = cluster->provider,
                                   .lifetime = *lifetime});
  }
  return figures;
}

}  // namespace execcred::sync

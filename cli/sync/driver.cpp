// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include "plan.hpp"

#include "catalogue.hpp"

#include <execcred/base/cause.hpp>
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

constexpr std::chrono::milliseconds kLongestWait(1000);
constexpr std::chrono::milliseconds kPacedWait(100);
constexpr std::chrono::seconds kScanPause(5);
constexpr std::chrono::seconds kClockJitter(1);
// A smaller step of the clock is not worth a line.
constexpr std::chrono::minutes kClockLeap(5);

TimePoint now() { return SystemClock().now(); }

// The time of the system clock less that of the steady clock. It changes when the clock is set, or
// when the machine was asleep.
Duration clock_ahead() { return now().time_since_epoch() - SteadyClock::now().time_since_epoch(); }

}  // namespace

int worse_exit_code(int code, int other) {
  if (code == 0 || other == 0) return code + other;
  return code == 3 ? other : code;
}

Driver::Driver(DriverSettings settings, Parts parts)
    : settings_(std::move(settings)),
      parts_(std::move(parts)),
      runner_(settings_.environment, {.stop = parts_.stop.descriptor()}),
      ledger_(settings_.rules) {}

Driver::~Driver() {
  end_threads();
  // Its thread calls wake().
  parts_.feed.reset();
}

Status Driver::read_mapping() {
  // The text is read first: if the file changes in between, the next look finds another text.
  const Result<std::string> text = read_file(settings_.mapping, kMaxMapping);
  mapping_ = TRY(engine::Mapping::load(settings_.mapping, cli::hint_on_provider));
  if (text) mapping_text_ = *text;
  return {};
}

Status Driver::scan() {
  std::vector<Held> all;
  for (Store* const store : parts_.stores) {
    std::vector<Held> held = TRY(store->scan());
    std::move(held.begin(), held.end(), std::back_inserter(all));
  }
  std::erase_if(all, [this](const Held& held) {
    return !settings_.name_space.empty() && held.mark.name_space != settings_.name_space;
  });
  const std::lock_guard lock(mutex_);
  tell(event::Scanned{.held = std::move(all)});
  return {};
}

void Driver::tell(Event event) {
  Actions actions = ledger_.apply(std::move(event), now());
  until_ = actions.until;
  if (actions.jobs.empty()) return;
  std::move(actions.jobs.begin(), actions.jobs.end(), std::back_inserter(jobs_));
  ready_changed_.notify_all();
}

event::Listed Driver::resolved(const ListedProfile& listed) const {
  const ProfileName name{.name_space = listed.name_space, .name = listed.name};
  engine::Target target = listed.profile ? engine::target_of(mapping_, *listed.profile, {})
                                         : engine::target_of(name, listed.profile.error());
  event::Listed result{.name_space = listed.name_space,
                       .name = listed.name,
                       .uid = listed.uid,
                       .provider = target.item.provider};
  if (target.access) {
    target.access->cluster_profile = listed.name_space + "/" + listed.name;
    result.access = std::make_shared<const Access>(std::move(*target.access));
    result.digest = digest_of(*result.access);
  } else {
    result.problem = failure_of(target.item);
  }
  const Mark mark{.instance = settings_.rules.instance,
                  .name_space = listed.name_space,
                  .name = listed.name,
                  .uid = listed.uid,
                  .digest = result.digest};
  for (Target* const one : parts_.targets) {
    Result<Held> place = one->place_of(mark);
    if (place) {
      result.places.push_back(std::move(*place));
    } else {
      result.lacks_place = true;
    }
  }
  return result;
}

void Driver::take(const ListedProfile& listed) {
  if (is_dns1123_label(listed.name_space) && is_dns1123_subdomain(listed.name)) {
    tell(resolved(listed));
    return;
  }
  const Failure failure{.cause = execcred::cause::kProfileInvalid,
                        .message = in_quotes(listed.name_space + "/" + listed.name) +
                                   " is no name of a ClusterProfile"};
  parts_.journal.write(Level::error, failure.message);
  count_failures({failure});
}

bool Driver::has_new_mapping() {
  const Result<std::string> text = read_file(settings_.mapping, kMaxMapping);
  if (text && *text == mapping_text_) return false;
  Result<engine::Mapping> mapping = engine::Mapping::load(settings_.mapping, cli::hint_on_provider);
  if (text) mapping_text_ = *text;
  if (!mapping) {
    parts_.journal.write(Level::error, mapping.error());
    return false;
  }
  mapping_ = std::move(*mapping);
  parts_.journal.write(Level::info, "the mapping has changed");
  return true;
}

// A watch that fails repeatedly works in between, so an error is reported again only after a time
// without it.
void Driver::report_once(const Error& error) {
  const auto time = SteadyClock::now();
  std::erase_if(reported_, [&](const auto& one) { return time - one.second > 2 * kSweep; });
  const bool is_new = reported_.insert_or_assign(format_error("execcred", error), time).second;
  if (is_new) parts_.journal.write(Level::error, error);
}

int Driver::report(const Picture& picture, const Look& look) {
  int code = 0;
  for (const Error& failure : picture.failures) {
    report_once(failure);
    code = worse_exit_code(code, exit_code(failure.kind));
  }
  for (const Error& problem : picture.problems) {
    report_once(problem);
    code = worse_exit_code(code, 1);
  }
  is_usable_ = look.is_known && (settings_.rules.may_be_empty || !look.is_empty());
  if (look.is_known && !is_usable_) code = 2;
  return picture.is_known || code != 0 ? code : 3;
}

void Driver::report_doubts(const Picture& picture, const Look& look) {
  std::set<std::string> doubts;
  const auto report = [&](Level level, const std::string& what, std::string_view hint) {
    doubts.insert(what);
    if (doubts_.count(what) == 0) parts_.journal.write(level, what, {{"hint", std::string(hint)}});
  };
  for (const std::string& file : picture.empty_files) {
    report(Level::warning, in_quotes(file) + " is an empty file",
           "nothing is removed while it is empty: write its content, or remove it");
  }
  if (!look.is_mapping_valid) {
    const Error& problem = mapping_.problems.begin()->second;
    report(Level::warning, "the mapping " + in_quotes(settings_.mapping) + ": " + problem.message,
           "no rule removes a credential while an entry is wrong");
  }
  if (!settings_.rules.may_be_empty) {
    if (look.is_known && look.count == 0) {
      report(Level::error, "the inventory holds no ClusterProfile",
             "nothing is written or removed; --allow-empty accepts an empty inventory");
    }
    if (!look.has_providers) {
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

int Driver::look() {
  const std::lock_guard lock(mutex_);
  const bool is_anew = has_new_mapping();
  const Picture picture = parts_.feed->read(
      is_anew, {.take = [this](const ListedProfile& listed) { take(listed); },
                .drop = [this](const std::string& key) { tell(event::Dropped{.cluster = key}); }});
  const Look look{.is_all = picture.is_all,
                  .is_known = picture.is_known,
                  .is_whole = picture.is_whole,
                  .count = picture.count,
                  .has_empty_path = !picture.empty_paths.empty(),
                  .has_providers = !mapping_.providers.providers.empty(),
                  .is_mapping_valid = mapping_.problems.empty()};
  const int code = report(picture, look);
  report_doubts(picture, look);
  tell(event::Looked{.look = look});
  is_looked_at_ = is_looked_at_ || picture.is_known;
  return code;
}

void Driver::count_failures(const std::vector<Failure>& failures) {
  for (const Failure& failure : failures) {
    const std::string_view cause =
        failure.cause.empty() ? execcred::cause::kProgramFailed : failure.cause;
    ++figures_.failures[std::string(cause)];
    round_code_ = worse_exit_code(round_code_, failure.is_unavailability ? 3 : 1);
  }
}

void Driver::count(const Job& job, const JobResult& result) {
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
  if (result.is_interrupted && !parts_.stop.is_requested()) {
    round_code_ = worse_exit_code(round_code_, 3);
  }
}

bool Driver::may_write() const {
  return !parts_.stop.is_requested() && (parts_.lease == nullptr || parts_.lease->holds());
}

void Driver::start_threads() {
  while (threads_.size() < settings_.rules.parallel) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;
      return;  // fewer do it too
    }
  }
}

void Driver::end_threads() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ready_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Driver::work() {
  const JobTools tools{.targets = parts_.targets,
                       .runner = runner_,
                       .environment = settings_.environment,
                       .journal = parts_.journal,
                       .may_write = [this] { return may_write(); },
                       .is_stopped = [this] { return parts_.stop.is_requested(); }};
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_changed_.wait(lock, [this] { return is_ending_ || !jobs_.empty(); });
    if (is_ending_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    JobResult result;
    if (may_write()) {
      result = do_job(job, tools);
    } else {
      result.held = job.held;
      result.is_interrupted = true;
    }
    lock.lock();
    count(job, result);
    tell(event::Ended{.job = std::move(job), .result = std::move(result)});
    idle_.notify_all();
  }
}

int Driver::run_round() {
  start_threads();
  std::unique_lock lock(mutex_);
  tell(event::Due{.is_paced = false});
  idle_.wait(lock, [this] {
    if (parts_.stop.is_requested()) tell(event::Halted{});
    return ledger_.is_idle();
  });
  return round_code_;
}

std::string Driver::plan(bool is_json) const {
  const std::lock_guard lock(mutex_);
  return plan_of(ledger_, parts_.targets, now(), is_json);
}

void Driver::sweep() {
  const std::lock_guard lock(mutex_);
  event::Deleted deleted;
  for (const Held* const held : ledger_.settled(now())) {
    if (held->store->is_gone(*held)) deleted.held.push_back(*held);
  }
  tell(std::move(deleted));
}

void Driver::follow_clock() {
  const Duration ahead = clock_ahead();
  const Duration step = ahead - std::exchange(clock_ahead_, ahead);
  if (std::chrono::abs(step) < kClockJitter) return;
  if (std::chrono::abs(step) >= kClockLeap) {
    parts_.journal.write(Level::warning, "the clock was set, or this machine was asleep",
                         {{"by", format_duration(std::chrono::round<std::chrono::seconds>(step))}});
  }
  const std::lock_guard lock(mutex_);
  tell(event::ClockMoved{.step = step});
}

void Driver::wake() {
  {
    const std::lock_guard lock(wake_mutex_);
    is_woken_ = true;
  }
  woken_.notify_one();
}

void Driver::wait() {
  std::unique_lock lock(wake_mutex_);
  while (!is_woken_ && !parts_.stop.is_requested()) woken_.wait_for(lock, kLongestWait);
  is_woken_ = false;
}

// Scans what other processes wrote, before this one writes. Fails as scan() does, for a permanent
// reason and without a lease.
Status Driver::lead() {
  {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return ledger_.is_idle(); });
  }
  Status scanned = scan();
  is_scanned_ = scanned.has_value();
  // The targets that were found are compared with the inventory.
  if (scanned) wake();
  if (scanned) return {};
  if (scanned.error().kind != Error::Kind::unavailable && parts_.lease == nullptr) return scanned;
  parts_.journal.write(Level::error, scanned.error());
  Duration pause = kScanPause;
  for (const Store* const store : parts_.stores) pause = std::max(pause, store->retry_after());
  parts_.stop.wait_until(SteadyClock::now() + pause);
  return {};
}

void Driver::report_lease(bool is_leading) {
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

void Driver::report_watches() {
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

bool Driver::wait_for_work() {
  TimePoint until;
  {
    const std::lock_guard lock(mutex_);
    until = until_;
  }
  const Duration wait = std::clamp<Duration>(until - now(), Duration(0), kPacedWait);
  std::unique_lock lock(wake_mutex_);
  if (!is_woken_) woken_.wait_for(lock, wait);
  return std::exchange(is_woken_, false);
}

Status Driver::step() {
  const bool is_woken = wait_for_work();
  follow_clock();
  const bool is_time = SteadyClock::now() >= next_sweep_;
  if (is_woken || is_time) look();
  if (is_time) {
    sweep();
    next_sweep_ = SteadyClock::now() + kSweep;
  }
  report_watches();
  const bool is_leading = parts_.lease == nullptr || parts_.lease->holds();
  report_lease(is_leading);
  if (!is_leading && is_scanned_) {
    const std::lock_guard lock(mutex_);
    tell(event::Halted{});
    is_scanned_ = false;
  }
  if (is_leading && !is_scanned_) TRY(lead());
  const std::lock_guard lock(mutex_);
  figures_.is_waiting = !is_leading;
  if (!is_leading || !is_scanned_) return {};
  tell(event::Due{});
  if (is_looked_at_ && ledger_.is_idle() && !ledger_.is_behind()) figures_.is_round_done = true;
  return {};
}

Status Driver::run() {
  start_threads();
  next_sweep_ = SteadyClock::now() + kSweep;
  clock_ahead_ = clock_ahead();
  Status led;
  while (led && !parts_.stop.is_requested()) led = step();
  end_threads();
  return led;
}

Figures Driver::figures() const {
  const std::lock_guard lock(mutex_);
  Figures figures = figures_;
  for (const auto& [key, cluster] : ledger_.clusters()) {
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

// SPDX-License-Identifier: Apache-2.0
#include "simulation/world.hpp"

#include "sync/ledger.hpp"

#include <execcred/base/cause.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <utility>

namespace execcred::simulation {
namespace {

using namespace std::chrono_literals;
using sync::Failure;
using sync::Held;
using sync::Job;
using sync::JobResult;
using sync::Ledger;
using Index = std::size_t;
using Time = Duration;  // since the start, by a steady clock

constexpr TimePoint kStart = TimePoint(1'800'000'000s);
constexpr Index kTargets = 2;
constexpr Index kSharing = 50;  // one in this many clusters has a place of its predecessor
constexpr Index kProcesses = 2;
constexpr Time kCheck = 5min;
// How long a disturbance may have an effect: the longest pause after a failure, the time until a
// deleted target is noticed, and the runs in between.
constexpr Time kAftermath = 12min;
// The longest pause after a failure, and the run before it.
constexpr Time kLongestWait = 6min;
constexpr std::size_t kMostRuns = 150;        // of a cluster's plugin in an hour
constexpr std::size_t kMostLocalRuns = 1000;  // if it fails by a fault of this machine
constexpr std::size_t kParallel = 16;
constexpr Index kSmallFleet = 200;
constexpr int kMostAttempts = 6;  // of a write that meets conflicts
constexpr std::size_t kTraceLines = 60;

// What a ClusterProfile asks for: a digest names one of these.
struct Server {
  Index provider = 0;
  bool is_allowed = true;  // by the plugin's rule
};

struct Provider {
  std::chrono::seconds lifetime = 1h;
  bool gives_same = false;  // until the end of what it gave is near
  bool is_mapped = true;
  bool is_down = false;
  bool is_missing = false;  // its program
  Time disturbed = {};      // last
};

// A ClusterProfile, as the hub has it.
struct Profile {
  bool exists = true;
  int uid = 0;
  std::uint64_t version = 0;
  Index server = 0;
  bool is_half_written = false;
};

// What happened to a cluster.
struct History {
  Time disturbed = {};
  std::deque<Time> runs = {};
  Time local = -1h;  // the last failure by a fault of this machine
};

// A Secret or folder.
struct Object {
  bool exists = false;
  bool is_foreign = false;
  Index owner = 0;
  std::uint64_t version = 0;
  sync::Mark mark = {};
};

// What a process knows of a cluster.
struct View {
  bool is_listed = false;
  bool is_confirmed_gone = false;  // by a whole inventory
  Time confirmed = {};
  std::uint64_t version = 0;
  Index server = 0;
  bool is_forbidden = false;  // it resolves to nothing, by a rule
  bool has_problem = false;
  bool is_running = false;
  Time changed = {};  // when what it knows changed
  Time begun = {};    // its last job

  void set_listed(bool is, Time now) {
    if (is && !is_listed) changed = now;
    is_listed = is;
  }
};

struct Process {
  explicit Process(sync::LedgerRules rules) : ledger(std::move(rules)) {}

  Ledger ledger;
  std::vector<View> views = {};
  std::map<Index, Profile> news = {};      // of the hub's watch
  std::map<Index, Profile> profiles = {};  // as the hub's watch knows them
  std::uint64_t mapping = 0;
  bool is_killed = false;
  Index number = 0;
  bool may_remove = false;
  bool may_refuse = false;  // its rules count
  bool may_write = false;   // it knows that it has the Lease
  Time scanned = {};
  std::size_t running = 0;
  Time wake = Time::max();
};

enum class Inventory { whole, unknown, empty, half_empty, half_written };

class World {
 public:
  explicit World(const Options& options);
  Outcome run();

 private:
  // Chance
  bool once_in(unsigned count) { return random_() % count == 0; }
  Time between(Time least, Time most) {
    return least + Time(static_cast<Time::rep>(
                       random_() % static_cast<std::uint64_t>((most - least).count() + 1)));
  }
  Index any(Index count) { return random_() % count; }

  // Time
  using Action = std::function<void()>;
  void at(Time time, Action action) {
    if (free_.empty()) {
      free_.push_back(actions_.size());
      actions_.emplace_back();
    }
    actions_[free_.back()] = std::move(action);
    queue_.push({.time = time, .number = ++events_, .action = free_.back()});
    free_.pop_back();
  }
  void after(Time pause, Action action) { at(now_ + pause, std::move(action)); }
  TimePoint wall() const { return kStart + now_ + offset_; }

  // Records
  template <class... Parts>
  void note(const Parts&... parts);
  void break_invariant(const std::string& what) {
    if (!outcome_.fault.empty()) return;
    outcome_.fault = what;
    note("BROKEN: ", what);
  }

  // The fleet
  static Index number_in(std::string_view text) {
    Index number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  static Index index_of(std::string_view name) { return number_in(name.substr(1)); }
  Index place_of(Index cluster, Index target) const;
  Held held_at(Index place, sync::Mark mark) const;
  bool clashes(const Process& process, Index cluster, Index target) const;

  // What happens
  void change_profile();
  void change_server(Index cluster, bool is_allowed);
  void put_news(Index cluster);
  void disturb();
  void lose_watch();
  void for_a_while(Time most, Action action);
  void move_lease();
  void take_lease(Index process);
  void kill_process(Index index);
  void restart() { kill_process(any(kProcesses)); }
  void move_clock(Time step);
  void jump_clock();
  void break_inventory();
  void break_mapping();
  void fail_provider();
  void fail_hub();
  void delete_target();
  void disturb_owners(Index place);
  void live();
  void attend();

  // A process
  void tell(Process& process, sync::Event&& event);
  void start(Index index);
  void scan(Process& process);
  void event_scanned(Process& process);
  void look(Process& process);
  void look_at_files(Process& process, sync::Look& look);
  void look_at_news(Process& process, sync::Look& look);
  void look_all() {
    for (const auto& process : processes_) look(*process);
  }
  void list(Process& process, Index cluster, const Profile& profile);
  void sweep(Process& process);
  bool holds(const Process& process) const {
    return holder_ < kProcesses && processes_[holder_].get() == &process;
  }
  void begin(Process& process, Job job);
  struct Run;
  void ask(const std::shared_ptr<Run>& run);
  void answer(Run& run);
  std::optional<Index> next_place(Run& run);
  void write(const std::shared_ptr<Run>& run);
  void put(const std::shared_ptr<Run>& run, Index place);
  void conclude(const std::shared_ptr<Run>& run);
  void write_to(Run& run, Index place);
  void remove_from(Run& run, Index place);
  void meddle(Index place);
  void mark_ended(Run& run);
  void end(const std::shared_ptr<Run>& run);
  void fail(Run& run, std::string_view cause, bool is_unavailable, bool is_local = false) {
    fail(run, {.cause = cause, .is_unavailability = is_unavailable, .is_local = is_local});
  }
  void fail(Run& run, Failure failure);

  // The invariants
  void check_begin(const Process& process, Index cluster, const Job& job);
  void check_turns(const Process& process, const std::vector<Job>& jobs);
  void check_removal(const Process& process, Index cluster, const Job& job);
  void check_runs(Index cluster);
  void check_targets();
  void check_target(const Process& process, Index cluster, Index target);
  void check_wait(const Process& process, Index cluster);
  bool is_calm(Index cluster) const;

  struct Planned {
    Time time = {};
    std::uint64_t number = 0;
    Index action = 0;
    bool operator<(const Planned& other) const {
      return std::pair(other.time, other.number) < std::pair(time, number);
    }
  };

  Options options_;
  std::mt19937_64 random_;
  Outcome outcome_;
  std::priority_queue<Planned> queue_;
  std::vector<Action> actions_;  // of the queue
  std::vector<Index> free_;      // in actions_
  std::uint64_t events_ = 0;
  std::uint64_t turns_ = 0;
  Time now_ = {};
  Time offset_ = {};
  Time disturbed_ = {};
  std::size_t disturbances_ = 0;
  bool is_quiet_ = false;

  bool has_files_ = false;
  bool may_be_empty_ = false;
  bool prunes_ = true;
  bool is_selection_ = false;
  Inventory inventory_ = Inventory::whole;
  bool is_mapping_empty_ = false;
  bool is_mapping_faulty_ = false;  // another entry of it
  std::uint64_t mapping_ = 0;
  bool is_hub_down_ = false;
  bool is_watch_lost_ = false;
  bool is_watch_loss_seen_ = false;
  Index holder_ = kProcesses;  // of the Lease; kProcesses: nobody
  std::vector<std::string> names_;
  std::vector<Profile> profiles_;
  std::vector<History> histories_;
  std::vector<Provider> providers_;
  std::vector<Server> servers_;
  std::vector<Object> objects_;
  std::vector<std::string> places_;
  std::vector<Held> wanted_;  // what each target asks for, without the uid and the digest
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Process>> killed_;
};

struct World::Run {
  Process& process;
  Index cluster;
  Job job;
  JobResult result = {};
  Index step = 0;          // of its writes or removals
  int attempts = 0;        // of this one
  std::uint64_t seen = 0;  // the version of its object, as it was read
};

World::World(const Options& options) : options_(options), random_(options.seed) {
  has_files_ = once_in(2);
  may_be_empty_ = once_in(10);
  prunes_ = !once_in(10);
  is_selection_ = once_in(10);
  constexpr std::array<std::chrono::seconds, 5> kLifetimes = {1h, 4h, 12h, 1h, 30min};
  for (const std::chrono::seconds lifetime : kLifetimes) {
    providers_.push_back({.lifetime = lifetime, .gives_same = once_in(4)});
  }
  for (Index i = 0; i < options_.clusters; ++i) {
    names_.push_back("c" + std::to_string(i));
    servers_.push_back({.provider = any(once_in(4) ? 5 : 3), .is_allowed = !once_in(40)});
    profiles_.push_back({.exists = !once_in(20), .server = i});
    histories_.emplace_back();
    for (Index target = 0; target < kTargets; ++target) {
      places_.push_back((target == 0 ? "Secret hub/" : "'/run/") + names_.back());
      objects_.push_back({.exists = once_in(200)});
      objects_.back().is_foreign = objects_.back().exists;
    }
  }
  for (Index i = 0; i < options_.clusters * kTargets; ++i) {
    const Index cluster = i / kTargets;
    wanted_.push_back(
        held_at(place_of(cluster, i % kTargets),
                {.instance = "default", .name_space = "fleet", .name = names_[cluster]}));
  }
  for (Index i = 0; i < kProcesses; ++i) {
    processes_.push_back(nullptr);
    start(i);
  }
}

template <class... Parts>
void World::note(const Parts&... parts) {
  if (!options_.is_traced) return;
  const auto text = [](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
      return std::to_string(part);
    } else {
      return std::string(part);
    }
  };
  const auto seconds = std::chrono::duration_cast<std::chrono::milliseconds>(now_).count();
  std::string line = std::to_string(seconds / 1000) + "." +
                     std::to_string(1000 + seconds % 1000).substr(1) + " s  ";
  (line.append(text(parts)), ...);
  outcome_.trace.push_back(std::move(line));
}

// The fleet

Index World::place_of(Index cluster, Index target) const {
  const bool shares = target == 0 && cluster % kSharing == 1;
  return (shares ? cluster - 1 : cluster) * kTargets + target;
}

Held World::held_at(Index place, sync::Mark mark) const {
  return {.place = places_[place], .name = std::to_string(place), .mark = std::move(mark)};
}

bool World::clashes(const Process& process, Index cluster, Index target) const {
  if (target != 0 || cluster % kSharing > 1) return false;
  const Index other = cluster % kSharing == 1 ? cluster - 1 : cluster + 1;
  return other < profiles_.size() && process.views[other].is_listed;
}

// A process

void World::start(Index index) {
  if (processes_[index]) {
    processes_[index]->is_killed = true;
    killed_.push_back(std::move(processes_[index]));
  }
  processes_[index] = std::make_unique<Process>(sync::LedgerRules{.instance = "default",
                                                                  .parallel = kParallel,
                                                                  .prunes = prunes_,
                                                                  .is_selection = is_selection_,
                                                                  .may_be_empty = may_be_empty_,
                                                                  .seed = random_()});
  Process& process = *processes_[index];
  process.number = index;
  process.views.resize(profiles_.size());
  for (Index i = 0; i < profiles_.size(); ++i) process.news[i] = profiles_[i];
  look(process);
}

// The caller sees to it that no job is running.
void World::scan(Process& process) {
  if (process.running > 0) {
    after(200ms, [this, &process] {
      if (holds(process) && !process.may_write) scan(process);
    });
    return;
  }
  event_scanned(process);
}

void World::event_scanned(Process& process) {
  sync::event::Scanned scanned;
  for (Index place = 0; place < objects_.size(); ++place) {
    const Object& object = objects_[place];
    if (object.exists && !object.is_foreign) scanned.held.push_back(held_at(place, object.mark));
  }
  for (View& view : process.views) view.is_confirmed_gone = false;
  process.may_write = true;
  process.scanned = now_;
  note("scan: ", scanned.held.size(), " targets");
  tell(process, std::move(scanned));
  look(process);
}

void World::tell(Process& process, sync::Event&& event) {
  sync::Actions actions = process.ledger.apply(std::move(event), wall());
  check_turns(process, actions.jobs);
  for (Job& job : actions.jobs) begin(process, std::move(job));
  if (actions.until == sync::kNever) return;
  // A driver may be late.
  const Time wake = std::max<Time>(actions.until - kStart - offset_, now_ + 1s);
  if (wake >= process.wake && process.wake > now_) return;
  process.wake = wake;
  at(wake, [this, &process, wake] {
    if (process.wake != wake || process.is_killed) return;
    process.wake = Time::max();
    tell(process, sync::event::Due{});
  });
}

void World::list(Process& process, Index cluster, const Profile& profile) {
  const Server& server = servers_[profile.server];
  const Provider& provider = providers_[server.provider];
  View& view = process.views[cluster];
  view.set_listed(true, now_);
  view.is_confirmed_gone = false;
  if (view.server != profile.server || view.has_problem) view.changed = now_;
  view.server = profile.server;
  view.is_forbidden = !profile.is_half_written && (is_mapping_empty_ || !provider.is_mapped);
  view.has_problem = view.is_forbidden || profile.is_half_written;
  sync::event::Listed listed{.name_space = "fleet",
                             .name = names_[cluster],
                             .uid = has_files_ ? std::string() : std::to_string(profile.uid)};
  if (view.has_problem) {
    listed.problem =
        Failure{.cause = view.is_forbidden ? cause::kNoProvider : cause::kProfileInvalid,
                .message = view.is_forbidden ? "no provider" : "invalid",
                .is_by_rule = view.is_forbidden};
  } else {
    listed.digest = std::to_string(profile.server);
  }
  listed.places.reserve(kTargets);
  for (Index target = 0; target < kTargets; ++target) {
    Held& held = listed.places.emplace_back(wanted_[cluster * kTargets + target]);
    held.mark.uid = listed.uid;
    held.mark.digest = listed.digest;
  }
  tell(process, std::move(listed));
}

void World::look(Process& process) {
  sync::Look look{.is_all = has_files_,
                  .is_known = inventory_ != Inventory::unknown,
                  .is_whole = inventory_ == Inventory::whole || inventory_ == Inventory::empty ||
                              inventory_ == Inventory::half_empty,
                  .has_empty_path = inventory_ == Inventory::half_empty,
                  .has_providers = !is_mapping_empty_,
                  .is_mapping_valid = !is_mapping_faulty_};
  if (has_files_) {
    look_at_files(process, look);
  } else {
    look_at_news(process, look);
  }
  const bool is_accepted =
      may_be_empty_ || (look.count > 0 && look.has_providers && !look.has_empty_path);
  process.may_remove = look.is_whole && is_accepted;
  process.may_refuse = process.may_remove && look.is_mapping_valid;
  if (process.may_remove) {
    for (View& view : process.views) {
      if (!view.is_listed && !view.is_confirmed_gone) view.confirmed = now_;
      if (!view.is_listed) view.is_confirmed_gone = true;
    }
  }
  tell(process, sync::event::Looked{.look = look});
}

void World::look_at_files(Process& process, sync::Look& look) {
  if (!look.is_known || inventory_ == Inventory::empty) {
    if (look.is_known) {
      for (View& view : process.views) view.set_listed(false, now_);
    }
    return;
  }
  for (Index i = 0; i < profiles_.size(); ++i) {
    Profile profile = profiles_[i];
    // The folder of every second ClusterProfile may be one that is not mounted.
    const bool is_missing = inventory_ == Inventory::half_empty && i % 2 == 0;
    process.views[i].set_listed(profile.exists && !is_missing, now_);
    if (!process.views[i].is_listed) continue;
    profile.is_half_written = inventory_ == Inventory::half_written && i % 50 == 7;
    // An empty file has no name.
    if (profile.is_half_written && i % 100 == 7) {
      process.views[i].set_listed(false, now_);
      continue;
    }
    if (!profile.is_half_written) ++look.count;
    list(process, i, profile);
  }
}

void World::look_at_news(Process& process, sync::Look& look) {
  look.is_whole = look.is_known = true;
  if (is_watch_loss_seen_) look.is_whole = false;
  const bool is_anew = std::exchange(process.mapping, mapping_) != mapping_;
  for (const auto& [cluster, profile] : std::exchange(process.news, {})) {
    process.views[cluster].version = profile.version;
    process.profiles[cluster] = profile;
    process.views[cluster].set_listed(profile.exists, now_);
    if (!profile.exists) {
      tell(process, sync::event::Dropped{.cluster = "fleet/" + names_[cluster]});
    } else if (!is_anew) {
      list(process, cluster, profile);
    }
  }
  for (const auto& [cluster, profile] : process.profiles) {
    if (is_anew && profile.exists) list(process, cluster, profile);
  }
  for (const View& view : process.views) look.count += view.is_listed ? 1 : 0;
}

void World::sweep(Process& process) {
  sync::event::Deleted deleted;
  for (const Held* const held : process.ledger.settled(wall())) {
    const Object& object = objects_[number_in(held->name)];
    if (!object.exists || object.is_foreign) deleted.held.push_back(*held);
  }
  if (!deleted.held.empty()) note("deleted targets were found: ", deleted.held.size());
  tell(process, std::move(deleted));
}

// A job

void World::begin(Process& process, Job job) {
  const Index cluster = index_of(job.mark.name);
  check_begin(process, cluster, job);
  process.views[cluster].is_running = true;
  process.views[cluster].begun = now_;
  ++process.running;
  auto run =
      std::make_shared<Run>(Run{.process = process, .cluster = cluster, .job = std::move(job)});
  run->result.held = run->job.held;
  constexpr std::array kKinds = {"renew ", "remove ", "expire "};
  note("p", process.number, " begins ", kKinds.at(static_cast<Index>(run->job.kind)),
       names_[cluster], " ", run->job.why);
  if (run->job.kind == Job::Kind::renew) {
    ask(run);
  } else if (run->job.kind == Job::Kind::remove) {
    write(run);
  } else {
    after(between(1ms, 50ms), [this, run] { conclude(run); });
  }
}

void World::fail(Run& run, Failure failure) {
  if (failure.is_local) histories_[run.cluster].local = now_;
  run.result.failures.push_back(std::move(failure));
}

// The plugin runs.
void World::ask(const std::shared_ptr<Run>& run) {
  if (run->job.problem) {
    fail(*run, *run->job.problem);
    after(1ms, [this, run] { conclude(run); });
    return;
  }
  histories_[run->cluster].runs.push_back(now_);
  ++outcome_.runs;
  check_runs(run->cluster);
  // The author of the ClusterProfile corrects what is refused, while the plugin runs.
  const bool is_refused = !servers_[number_in(run->job.mark.digest)].is_allowed;
  if (is_refused && !run->job.held.empty() && !is_quiet_ && once_in(4)) {
    change_server(run->cluster, true);
  }
  const bool is_slow = once_in(50);
  after(is_slow ? between(1s, 9s) : between(20ms, 500ms), [this, run] {
    answer(*run);
    write(run);
  });
}

void World::answer(Run& run) {
  const Server& server = servers_[number_in(run.job.mark.digest)];
  const Provider& provider = providers_[server.provider];
  if (provider.is_missing) return fail(run, cause::kProgramMissing, false, true);
  if (!server.is_allowed) {
    return fail(run, {.cause = cause::kServerNotAllowed, .is_by_rule = true});
  }
  if (provider.is_down) return fail(run, cause::kSourceUnavailable, true);
  if (!is_quiet_ && once_in(100)) {
    histories_[run.cluster].disturbed = now_;
    // A rule has these causes too, but says so.
    constexpr std::array kCauses = {cause::kProgramFailed,  cause::kSourceForbidden,
                                    cause::kProgramTimeout, cause::kSourceMissing,
                                    cause::kConfigRefused,  cause::kServerNotAllowed};
    const std::string_view one = kCauses.at(any(kCauses.size()));
    return fail(run, one, false, one == cause::kSourceMissing);
  }
  // The provider's clock is right.
  const TimePoint right = kStart + now_;
  auto ends = std::chrono::floor<std::chrono::seconds>(right) + provider.lifetime;
  const auto& before = run.job.lifetime;
  const bool gives_same = provider.gives_same && before && before->expires &&
                          before->expires > right + provider.lifetime / 8 &&
                          before->expires <= right + provider.lifetime;
  if (gives_same) ends = *before->expires;
  if (ends <= wall()) return fail(run, cause::kCredentialExpired, false);
  const bool is_same = before && before->expires == ends;
  const auto issued = is_same ? before->issued : std::chrono::floor<std::chrono::seconds>(wall());
  run.result.is_same_credential = is_same;
  run.result.lifetime = sync::Lifetime{.issued = issued, .expires = ends};
}

// The place that is written or removed next; nullopt if there is none.
std::optional<Index> World::next_place(Run& run) {
  if (run.job.kind == Job::Kind::remove) {
    if (run.step == run.job.held.size()) return std::nullopt;
    return number_in(run.job.held[run.step].name);
  }
  for (; run.result.lifetime && run.step < kTargets; ++run.step) {
    const Index place = place_of(run.cluster, run.step);
    const auto is_here = [&](const auto& one) { return one.place == places_[place]; };
    const auto& clashes = run.job.clashes;
    if (std::any_of(clashes.begin(), clashes.end(), is_here)) {
      fail(run, sync::cause::kTargetClash, false);
      continue;
    }
    const sync::Mark& mark = run.job.mark;
    const auto held = std::find_if(run.job.held.begin(), run.job.held.end(), is_here);
    const bool is_good = run.job.renewal > wall() && held != run.job.held.end() &&
                         held->mark.digest == mark.digest && held->mark.is_same_object(mark) &&
                         !held->mark.is_expired;
    if (!is_good) return place;
  }
  return std::nullopt;
}

// Reads the next object, and writes it a moment later.
void World::write(const std::shared_ptr<Run>& run) {
  const std::optional<Index> place = next_place(*run);
  if (!place) return conclude(run);
  run->seen = objects_[*place].version;
  after(once_in(30) ? between(100ms, 2s) : between(1ms, 50ms),
        [this, run, place = *place] { put(run, place); });
}

void World::put(const std::shared_ptr<Run>& run, Index place) {
  Run& one = *run;
  if (one.process.is_killed) return;
  if (!holds(one.process)) return conclude(run);
  meddle(place);
  if (is_hub_down_) {
    fail(one, sync::cause::kTargetUnavailable, true);
  } else if (objects_[place].version != one.seen) {
    ++outcome_.conflicts;
    note("p", one.process.number, " meets a conflict: ", places_[place]);
    if (++one.attempts < kMostAttempts) return write(run);
    fail(one, sync::cause::kTargetUnavailable, true);
  } else if (one.job.kind == Job::Kind::remove) {
    remove_from(one, place);
  } else {
    write_to(one, place);
  }
  one.attempts = 0;
  ++one.step;
  if (!is_quiet_ && once_in(3000)) return kill_process(one.process.number);
  write(run);
}

void World::conclude(const std::shared_ptr<Run>& run) {
  Run& one = *run;
  if (one.process.is_killed) return;
  if (!holds(one.process)) {
    one.result.is_interrupted = true;
    return end(run);
  }
  if (one.job.kind != Job::Kind::remove) {
    const auto& failures = one.result.failures;
    const bool is_refused =
        one.job.kind == Job::Kind::renew && !one.result.lifetime && failures.front().is_by_rule;
    if (!is_refused || !one.job.may_remove) mark_ended(one);
  }
  end(run);
}

void World::write_to(Run& run, Index place) {
  const auto is_here = [&](const auto& one) { return one.place == places_[place]; };
  sync::Mark mark = run.job.mark;
  mark.issued = run.result.lifetime->issued;
  mark.expires = run.result.lifetime->expires;
  Object& object = objects_[place];
  const bool is_foreign_target =
      object.exists && (object.is_foreign || object.owner != run.cluster);
  if (is_foreign_target) return fail(run, sync::cause::kTargetForeign, false);
  object = {.exists = true, .owner = run.cluster, .version = object.version + 1, .mark = mark};
  ++outcome_.writes;
  note("p", run.process.number, " writes ", places_[place]);
  if (!is_quiet_ && once_in(500)) {
    histories_[run.cluster].disturbed = now_;
    return fail(run, sync::cause::kTargetUnavailable, true);  // the reply is lost
  }
  ++run.result.writes;
  auto& kept = run.result.held;
  const auto before = std::find_if(kept.begin(), kept.end(), is_here);
  if (before == kept.end()) {
    kept.push_back(held_at(place, mark));
  } else {
    before->mark = mark;
  }
}

void World::remove_from(Run& run, Index place) {
  std::erase_if(run.result.held, [&](const Held& held) { return held.place == places_[place]; });
  Object& object = objects_[place];
  const bool is_ours = object.exists && !object.is_foreign && object.owner == run.cluster;
  if (!is_ours) return;
  object = {.version = object.version + 1};
  ++outcome_.removals;
  ++run.result.writes;
  note("p", run.process.number, " removes ", places_[place]);
}

void World::mark_ended(Run& run) {
  for (Held& held : run.result.held) {
    const bool has_ended = held.mark.expires && *held.mark.expires <= wall();
    if (!has_ended || held.mark.is_expired || is_hub_down_) continue;
    held.mark.is_expired = true;
    Object& object = objects_[number_in(held.name)];
    const bool is_it =
        object.exists && !object.is_foreign && object.mark.expires == held.mark.expires;
    if (is_it && object.owner == run.cluster) {
      object.mark.is_expired = true;
      ++object.version;
    }
  }
}

void World::end(const std::shared_ptr<Run>& run) {
  Process& process = run->process;
  if (process.is_killed) return;
  process.views[run->cluster].is_running = false;
  --process.running;
  if (!run->result.failures.empty())
    note("p", process.number, " fails ", names_[run->cluster], " ",
         run->result.failures.front().cause);
  tell(process, sync::event::Ended{.job = std::move(run->job), .result = std::move(run->result)});
}

// What happens

void World::put_news(Index cluster) {
  Profile& profile = profiles_[cluster];
  ++profile.version;
  histories_[cluster].disturbed = now_;
  // The ClusterProfile with which it shares a place is concerned, too.
  const Index other = cluster % kSharing == 1 ? cluster - 1 : cluster + 1;
  if (cluster % kSharing <= 1 && other < profiles_.size()) histories_[other].disturbed = now_;
  for (const auto& one : processes_) {
    Process& process = *one;
    after(between(10ms, 2s), [this, &process, cluster, profile = profile] {
      if (process.is_killed || (is_watch_lost_ && !has_files_)) return;
      const auto known = process.news.find(cluster);
      const std::uint64_t version =
          known == process.news.end() ? process.views[cluster].version : known->second.version;
      // The watch drops what is older than what it has.
      if (profile.version > version) process.news[cluster] = profile;
      after(between(0ms, 100ms), [this, &process] {
        if (!process.is_killed) look(process);
      });
    });
  }
}

void World::change_profile() {
  const Index cluster = any(profiles_.size());
  Profile& profile = profiles_[cluster];
  const Index kind = any(4);
  if (!profile.exists || kind == 0) {
    profile.exists = !profile.exists;
    if (profile.exists) ++profile.uid;
  } else if (kind == 1) {
    ++profile.uid;  // deleted and made again
  } else {
    return change_server(cluster, !once_in(20));
  }
  note("change of ", names_[cluster], ": ", profile.exists ? "created" : "deleted");
  put_news(cluster);
}

void World::change_server(Index cluster, bool is_allowed) {
  profiles_[cluster].server = servers_.size();
  servers_.push_back({.provider = any(5), .is_allowed = is_allowed});
  note("change of ", names_[cluster], ": server ", profiles_[cluster].server);
  put_news(cluster);
}

// For a while, but never after the quiet begins.
void World::for_a_while(Time most, Action action) {
  ++disturbances_;
  disturbed_ = now_;
  const Time quiet = options_.length - 1h;
  at(std::min(now_ + between(1s, most), quiet), [this, action = std::move(action)] {
    --disturbances_;
    disturbed_ = now_;
    action();
  });
}

void World::lose_watch() {
  if (is_watch_lost_) return;
  note("the watch is lost");
  is_watch_lost_ = true;
  after(between(0s, 10s), [this] {
    is_watch_loss_seen_ = is_watch_lost_;
    look_all();
  });
  for_a_while(20min, [this] {
    note("the inventory is listed again");
    is_watch_lost_ = is_watch_loss_seen_ = false;
    for (const auto& process : processes_) {
      for (Index i = 0; i < profiles_.size(); ++i) process->news[i] = profiles_[i];
    }
    look_all();
  });
}

void World::take_lease(Index index) {
  if (holder_ != kProcesses) return;
  note("p", index, " takes the Lease");
  holder_ = index;
  disturbed_ = now_;
  scan(*processes_[index]);
}

void World::move_lease() {
  if (holder_ == kProcesses) return;
  Process& process = *processes_[holder_];
  note("p", holder_, " loses the Lease");
  holder_ = kProcesses;
  after(between(0ms, 100ms), [this, &process] {
    if (process.is_killed) return;
    process.may_write = false;
    tell(process, sync::event::Halted{});
  });
  disturbed_ = now_;
  after(between(5s, 30s), [this] { take_lease(any(kProcesses)); });
}

void World::kill_process(Index index) {
  ++outcome_.kills;
  note("p", index, " is killed");
  if (holder_ == index) {
    holder_ = kProcesses;
    after(between(10s, 20s), [this] { take_lease(any(kProcesses)); });
  }
  disturbed_ = now_;
  start(index);
}

void World::move_clock(Time step) {
  note("the clock moves by ", std::chrono::duration_cast<std::chrono::seconds>(step).count(), " s");
  offset_ += step;
  for (const auto& process : processes_) tell(*process, sync::event::ClockMoved{.step = step});
}

void World::jump_clock() {
  constexpr std::array<std::chrono::seconds, 6> kSteps = {2s, 30s, 10min, 3h, 30h, 9600h};
  const Time step = kSteps.at(any(kSteps.size())) * (once_in(2) ? 1 : -1);
  move_clock(step);
  for_a_while(1h, [this, step] { move_clock(-step); });
}

void World::break_inventory() {
  if (!has_files_) return lose_watch();
  if (inventory_ != Inventory::whole) return;
  constexpr std::array kKinds = {Inventory::unknown, Inventory::empty, Inventory::half_empty,
                                 Inventory::half_written};
  inventory_ = kKinds.at(any(kKinds.size()));
  note("the inventory breaks: ", static_cast<int>(inventory_));
  look_all();
  for_a_while(30min, [this] {
    note("the inventory is whole again");
    inventory_ = Inventory::whole;
    look_all();
  });
}

void World::break_mapping() {
  ++mapping_;
  if (once_in(2)) {
    note("the mapping is empty");
    is_mapping_empty_ = true;
    for_a_while(30min, [this] {
      note("the mapping has providers again");
      is_mapping_empty_ = false;
      ++mapping_;
      look_all();
    });
  } else if (once_in(3)) {
    note("an entry of the mapping is wrong");
    is_mapping_faulty_ = true;
    for_a_while(30min, [this] {
      note("the mapping is valid again");
      is_mapping_faulty_ = false;
      look_all();
    });
  } else {
    Provider& provider = providers_[any(providers_.size())];
    note("the mapping loses a provider");
    provider.is_mapped = false;
    provider.disturbed = now_;
    // It does not disturb the others.
    const auto end = std::min<Time>(now_ + between(1min, 2h), options_.length - 1h);
    at(end, [this, &provider] {
      note("the mapping has the provider again");
      provider.is_mapped = true;
      provider.disturbed = now_;
      ++mapping_;
      look_all();
    });
  }
  look_all();
}

void World::fail_provider() {
  const Index index = any(providers_.size());
  Provider& provider = providers_[index];
  bool& fault = once_in(3) ? provider.is_missing : provider.is_down;
  note("provider ", index, " fails");
  fault = true;
  const auto end = std::min<Time>(now_ + between(1min, 2h), options_.length - 1h);
  at(end, [this, &provider, &fault, index] {
    note("provider ", index, " works again");
    fault = false;
    provider.disturbed = now_;
  });
}

void World::fail_hub() {
  if (is_hub_down_) return;
  note("the hub is down");
  is_hub_down_ = true;
  for_a_while(20min, [this] {
    note("the hub is up");
    is_hub_down_ = false;
  });
}

void World::disturb_owners(Index place) {
  for (Index cluster = 0; cluster < profiles_.size(); ++cluster) {
    const bool is_theirs = place_of(cluster, 0) == place || place_of(cluster, 1) == place;
    if (is_theirs) histories_[cluster].disturbed = now_;
  }
}

void World::delete_target() {
  const Index place = any(objects_.size());
  Object& object = objects_[place];
  if (!object.exists || object.is_foreign) return;
  note("somebody deletes ", places_[place]);
  disturb_owners(place);
  object = {.version = object.version + 1};
}

// Somebody else writes an object while a process is about to: changes something else in it, or
// makes it another's for a while.
void World::meddle(Index place) {
  if (is_quiet_ || !once_in(400)) return;
  Object& object = objects_[place];
  ++object.version;
  if (!object.exists || object.is_foreign || !once_in(8)) return;
  note("somebody takes ", places_[place]);
  disturb_owners(place);
  object.is_foreign = true;
  at(std::min<Time>(now_ + between(1min, 1h), options_.length - 1h), [this, place] {
    Object& one = objects_[place];
    note("somebody gives ", places_[place], " up");
    disturb_owners(place);
    one = {.version = one.version + 1};
  });
}

void World::disturb() {
  if (is_quiet_) return;
  const std::array<void (World::*)(), 9> kinds = {
      &World::break_inventory, &World::lose_watch, &World::move_lease,
      &World::restart,         &World::jump_clock, &World::break_mapping,
      &World::fail_provider,   &World::fail_hub,   &World::break_inventory};
  (this->*kinds.at(any(kinds.size())))();
  after(between(5min, 3h), [this] { disturb(); });
}

void World::live() {
  if (is_quiet_) return;
  for (Index i = any(4); i > 0; --i) change_profile();
  if (once_in(3)) delete_target();
  after(between(1min, 40min), [this] { live(); });
}

void World::attend() {
  for (const auto& process : processes_) {
    sweep(*process);
    if (once_in(30)) look(*process);
  }
  after(5min, [this] { attend(); });
}

// The invariants

bool World::is_calm(Index cluster) const {
  const Provider& provider = providers_[servers_[profiles_[cluster].server].provider];
  if (disturbances_ > 0 || provider.is_down || provider.is_missing) return false;
  return now_ - std::max({disturbed_, histories_[cluster].disturbed, provider.disturbed}) >
         kAftermath;
}

void World::check_begin(const Process& process, Index cluster, const Job& job) {
  const View& view = process.views[cluster];
  if (!process.may_write) break_invariant("a job begins without the Lease: " + names_[cluster]);
  if (view.is_running) break_invariant("two jobs of one cluster at a time: " + names_[cluster]);
  if (process.running >= kParallel) break_invariant("more jobs at a time than allowed");
  if (job.kind == Job::Kind::remove) return check_removal(process, cluster, job);
  if (job.kind == Job::Kind::expire) return;
  if (view.is_confirmed_gone) break_invariant("a plugin runs for what is gone: " + names_[cluster]);
  if (!view.has_problem && !job.problem && job.mark.digest != std::to_string(view.server)) {
    break_invariant("a plugin runs for what was listed before: " + names_[cluster]);
  }
  for (Index target = 0; target < kTargets; ++target) {
    const auto is_here = [&](const sync::Clash& clash) {
      return clash.place == places_[place_of(cluster, target)];
    };
    if (job.problem || !clashes(process, cluster, target)) continue;
    if (std::none_of(job.clashes.begin(), job.clashes.end(), is_here)) {
      break_invariant("two owners of one place: " + names_[cluster]);
    }
  }
}

// Clusters that failed take half of the turns at most, and none that another waits for.
void World::check_turns(const Process& process, const std::vector<Job>& jobs) {
  // Fewer take no more than half, and leave a turn for each other. A large fleet is looked at less
  // often.
  if (process.running + jobs.size() <= kParallel / 2) return;
  if (++turns_ % std::max<Index>(profiles_.size() / kSmallFleet, 1) != 0) return;
  const Ledger::Clusters& clusters = process.ledger.clusters();
  const auto retry = std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) {
    return clusters.at(job.mark.cluster())->is_retry;
  });
  if (retry == jobs.end()) return;
  std::size_t retries = 0;
  bool is_waited_for = false;
  for (const auto& [key, cluster] : clusters) {
    if (cluster->is_in_flight && cluster->is_retry) ++retries;
    is_waited_for = is_waited_for || (cluster->is_queued && !cluster->is_retry);
  }
  if (retries > kParallel / 2) break_invariant("clusters that fail take too many turns");
  if (is_waited_for) break_invariant("a cluster that fails begins first: " + retry->mark.cluster());
}

void World::check_removal(const Process& process, Index cluster, const Job& job) {
  const View& view = process.views[cluster];
  const bool is_gone = !is_selection_ && view.is_confirmed_gone && job.why == sync::kGone;
  const bool is_refused =
      view.is_forbidden || (!view.has_problem && !servers_[view.server].is_allowed);
  const bool is_by_rule =
      view.is_listed && is_refused && process.may_refuse && job.why != sync::kGone;
  if (!prunes_ || (!is_gone && !is_by_rule)) {
    break_invariant("a removal without a reason: " + names_[cluster]);
  }
}

void World::check_runs(Index cluster) {
  History& history = histories_[cluster];
  while (history.runs.front() < now_ - 1h) history.runs.pop_front();
  const bool is_local = history.local > now_ - 1h;
  if (history.runs.size() > (is_local ? kMostLocalRuns : kMostRuns)) {
    break_invariant("a plugin runs too often: " + names_[cluster]);
  }
}

void World::check_target(const Process& process, Index cluster, Index target) {
  const Profile& profile = profiles_[cluster];
  const Server& server = servers_[profile.server];
  const Provider& provider = providers_[server.provider];
  const Object& object = objects_[place_of(cluster, target)];
  const bool is_theirs = object.exists && (object.is_foreign || object.owner != cluster);
  if (clashes(process, cluster, target)) return;
  const bool is_wanted = profile.exists && provider.is_mapped && server.is_allowed;
  if (!is_wanted) {
    const bool may_stay = !prunes_ || (is_selection_ && !profile.exists);
    if (!may_stay && object.exists && !is_theirs) {
      break_invariant("a credential stays where none may be: " + names_[cluster]);
    }
    return;
  }
  if (object.is_foreign || (is_theirs && (!prunes_ || is_selection_))) return;
  if (!object.exists || is_theirs)
    return break_invariant("a target is missing: " + names_[cluster]);
  if (object.mark.digest != std::to_string(profile.server)) {
    return break_invariant("a target is of what was listed before: " + names_[cluster]);
  }
  const bool is_recreated = !has_files_ && object.mark.uid != std::to_string(profile.uid);
  if (is_recreated)
    return break_invariant("a target is of a deleted ClusterProfile: " + names_[cluster]);
  const Time left = *object.mark.expires - wall();
  if (provider.gives_same) {
    if (left < Time(0)) break_invariant("a credential has ended: " + names_[cluster]);
    return;
  }
  // A clock that was ahead when it was written makes its life seem shorter.
  const Time life =
      std::clamp<Time>(*object.mark.expires - object.mark.issued, Time(0), provider.lifetime);
  if (left < life / 10) break_invariant("a credential is about to end: " + names_[cluster]);
  // Once the clock is right, that is seen, and all are renewed if this is the first to end.
  const Object& other = objects_[place_of(cluster, 1 - target)];
  const bool is_first = !other.exists || other.is_foreign || other.owner != cluster ||
                        object.mark.expires < other.mark.expires;
  if (is_first && object.mark.issued > wall() + 2min) {
    break_invariant("a credential of a wrong clock stays: " + names_[cluster]);
  }
}

// What was changed waits for the pause after a failure at most, also in an outage.
void World::check_wait(const Process& process, Index cluster) {
  const View& view = process.views[cluster];
  const Time since = std::max({view.changed, view.begun, process.scanned});
  if (!process.may_write || !view.is_listed || view.has_problem || view.is_running) return;
  if (now_ - since <= kLongestWait) return;
  for (Index target = 0; target < kTargets; ++target) {
    const Object& object = objects_[place_of(cluster, target)];
    const bool is_theirs = object.exists && !object.is_foreign && object.owner == cluster;
    if (is_theirs && object.mark.digest != std::to_string(view.server)) {
      break_invariant("a change waits for too long: " + names_[cluster]);
    }
  }
}

void World::check_targets() {
  if (holder_ != kProcesses) {
    for (Index cluster = 0; cluster < profiles_.size(); ++cluster) {
      check_wait(*processes_[holder_], cluster);
      if (!is_calm(cluster)) continue;
      for (Index target = 0; target < kTargets; ++target) {
        check_target(*processes_[holder_], cluster, target);
      }
    }
  }
  after(kCheck, [this] { check_targets(); });
}

Outcome World::run() {
  take_lease(0);
  at(5min, [this] { disturb(); });
  at(1min, [this] { live(); });
  at(3min, [this] { attend(); });
  at(kCheck, [this] { check_targets(); });
  at(options_.length - 1h, [this] { is_quiet_ = true; });
  while (!queue_.empty() && outcome_.fault.empty()) {
    const Planned planned = queue_.top();
    queue_.pop();
    if (planned.time > options_.length) break;
    now_ = planned.time;
    ++outcome_.events;
    const Action action = std::move(actions_[planned.action]);
    free_.push_back(planned.action);
    action();
  }
  return std::move(outcome_);
}

}  // namespace

Outcome simulate(const Options& options) { return World(options).run(); }

std::string report_of(Options options) {
  options.is_traced = true;
  const Outcome outcome = simulate(options);
  const std::string seed = std::to_string(options.seed);
  std::string text =
      "seed " + seed + ": " + outcome.fault + "\nrepeat it with: EXECCRED_SEED=" + seed +
      " EXECCRED_CLUSTERS=" + std::to_string(options.clusters) +
      " EXECCRED_HOURS=" + std::to_string(options.length.count()) + " scripts/test simulation\n";
  const std::size_t count = std::min(outcome.trace.size(), kTraceLines);
  for (auto line = outcome.trace.end() - static_cast<std::ptrdiff_t>(count);
       line != outcome.trace.end(); ++line) {
    text += "  " + *line + "\n";
  }
  return text;
}

}  // namespace execcred::simulation

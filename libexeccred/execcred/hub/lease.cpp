// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/lease.hpp>

#include <execcred/base/clock.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/hub/change.hpp>
#include <execcred/hub/secrets.hpp>
#include <execcred/json/json_reader.hpp>

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <utility>

namespace execcred {
namespace {

using std::chrono::steady_clock;

constexpr Duration kReleaseTime = std::chrono::seconds(2);
constexpr std::size_t kMaxIdentity = 253;

Status check(const LeaseSettings& settings) {
  if (!is_dns1123_label(settings.name_space) || !is_dns1123_subdomain(settings.name)) {
    return Error::configuration(
        in_quotes(settings.name_space + "/" + settings.name) + " is no NAMESPACE/NAME of a Lease",
        "both are in [a-z0-9-], the name perhaps with dots");
  }
  if (settings.identity.size() > kMaxIdentity || !is_visible_ascii(settings.identity) ||
      settings.identity.empty()) {
    return Error::configuration(
        in_quotes(settings.identity) + " cannot be the identity of a lease's holder",
        "it must be one word of at most 253 visible ASCII characters");
  }
  const LeaseTimings& timings = settings.timings;
  const bool is_whole = timings.lease_duration % std::chrono::seconds(1) == Duration::zero();
  if (!is_whole || timings.lease_duration < std::chrono::seconds(1)) {
    return Error::configuration("the duration of a lease must be whole seconds");
  }
  const auto retry = std::chrono::duration<double>(timings.retry_period) * (1 + timings.jitter);
  if (timings.lease_duration <= timings.renew_deadline || timings.renew_deadline <= retry ||
      timings.retry_period <= Duration::zero() || timings.jitter < 0) {
    return Error::configuration(
        "the duration of a lease must exceed its renew deadline, and that its retry period with "
        "the jitter");
  }
  return {};
}

// A time as metav1.MicroTime: "2026-07-01T12:00:00.000000Z".
std::string micro_time(TimePoint time) {
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch());
  const auto whole = std::chrono::floor<std::chrono::seconds>(micros);
  const std::time_t seconds = whole.count();
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> date = {};
  std::array<char, 16> fraction = {};
  if (std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts) == 0) return {};
  std::snprintf(fraction.data(), fraction.size(), ".%06dZ",
                static_cast<int>((micros - whole).count()));
  return std::string(date.data()) + fraction.data();
}

// The pause, lengthened by a random part of `factor` times the pause.
Duration lengthened(Duration pause, double factor) {
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) random = 0;
  const double part = static_cast<double>(random) / 4294967296.0;
  return pause +
         Duration(static_cast<Duration::rep>(static_cast<double>(pause.count()) * factor * part));
}

std::int64_t number_of(const json::Value* value) {
  std::int64_t number = 0;
  if (value == nullptr || value->number() == nullptr) return 0;
  const std::string& digits = value->number()->text;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

json::Value number(std::int64_t value) {
  return json::Value(json::Number{.text = std::to_string(value)});
}

// The members of a LeaseSpec (coordination.k8s.io/v1) that an election uses.
struct Record {
  std::string holder = {};
  std::int64_t duration_seconds = 0;
  std::string acquired = {};
  std::string renewed = {};
  std::int64_t transitions = 0;

  bool operator==(const Record&) const = default;
};

Record record_of(const json::Value& lease) {
  const json::Value* const spec = lease.find("spec");
  if (spec == nullptr) return {};
  return {.holder = json::text_or_empty(spec->find("holderIdentity")),
          .duration_seconds = number_of(spec->find("leaseDurationSeconds")),
          .acquired = json::text_or_empty(spec->find("acquireTime")),
          .renewed = json::text_or_empty(spec->find("renewTime")),
          .transitions = number_of(spec->find("leaseTransitions"))};
}

// Sets a member of the object: replaces the one of that name, or adds it.
void set_member(json::Value& object, std::string_view name, json::Value value) {
  if (object.object() != nullptr) {
    for (json::Member& member : *object.object()) {
      if (member.name != name) continue;
      member.value = std::move(value);
      return;
    }
  }
  object.add(name, std::move(value));
}

// The Lease with the new record. Everything else that other clients wrote to it stays.
json::Value with_record(const json::Value& lease, const Record& record) {
  json::Value changed = lease;
  const json::Value* const old = lease.find("spec");
  json::Value spec = old != nullptr && old->object() != nullptr ? *old : json::Value();
  set_member(spec, "holderIdentity", json::Value(record.holder));
  set_member(spec, "leaseDurationSeconds", number(record.duration_seconds));
  set_member(spec, "acquireTime", json::Value(record.acquired));
  set_member(spec, "renewTime", json::Value(record.renewed));
  set_member(spec, "leaseTransitions", number(record.transitions));
  set_member(changed, "spec", std::move(spec));
  return changed;
}

json::Value new_lease(const LeaseSettings& settings) {
  json::Value metadata;
  metadata.add("namespace", json::Value(settings.name_space));
  metadata.add("name", json::Value(settings.name));
  json::Value lease;
  lease.add("apiVersion", json::Value("coordination.k8s.io/v1"));
  lease.add("kind", json::Value("Lease"));
  lease.add("metadata", std::move(metadata));
  return lease;
}

}  // namespace

// The work of run(), and the state that only it needs.
class Lease::Session {
 public:
  Session(Lease& lease, const StopEvent& stop)
      : lease_(lease), settings_(lease.settings_), timings_(settings_.timings), stop_(stop) {}

  void run();

 private:
  // Whether the lease was taken or renewed.
  Result<bool> try_once();
  ChangeOutcome write_as(const Record& record);
  Result<bool> write(Record record);
  void observe(json::Value lease);
  bool is_held_by_another() const;
  void release();
  HubResource resource() const;
  void set_held_until(steady_clock::time_point time);
  void note(Result<bool> tried);
  Error lost(std::optional<Error> failure) const;

  Lease& lease_;
  const LeaseSettings& settings_;
  const LeaseTimings& timings_;
  const StopEvent& stop_;
  bool is_unsure_ = false;               // it is unknown whether the last write was done
  std::optional<json::Value> observed_;  // as last read or written; nullopt: not there, not known
  Record record_;                        // of it
  bool is_renewed_by_another_ = false;   // and it was seen to renew
  steady_clock::time_point observed_at_ = {};
};

HubResource Lease::Session::resource() const {
  return {.group = "coordination.k8s.io",
          .version = "v1",
          .resource = "leases",
          .name_space = settings_.name_space,
          .name = settings_.name};
}

void Lease::Session::set_held_until(steady_clock::time_point time) {
  lease_.held_until_.store(time.time_since_epoch().count());
}

// Stores what was read or written. The lease duration counts from the moment at which a change of
// the record was seen.
void Lease::Session::observe(json::Value lease) {
  const Record record = record_of(lease);
  if (!observed_ || record != record_) observed_at_ = steady_clock::now();
  const bool is_another = !record.holder.empty() && record.holder != settings_.identity;
  is_renewed_by_another_ = is_another && record.holder == record_.holder &&
                           (is_renewed_by_another_ || record != record_);
  record_ = record;
  observed_ = std::move(lease);
}

bool Lease::Session::is_held_by_another() const {
  if (record_.holder.empty() || record_.holder == settings_.identity) return false;
  // The number is an int32 in the API.
  const std::chrono::seconds lasts(std::clamp<std::int64_t>(record_.duration_seconds, 0, 1 << 30));
  return steady_clock::now() < observed_at_ + lasts;
}

// A repeated request would look like a renewal by another process of the same identity, so each
// opens a connection.
ChangeOutcome Lease::Session::write_as(const Record& record) {
  const bool is_new = !observed_;
  const json::Value lease = with_record(is_new ? new_lease(settings_) : *observed_, record);
  HubResource target = resource();
  if (is_new) target.name.clear();
  return change(lease_.hub_, {.method = is_new ? "POST" : "PUT",
                              .verb = is_new ? "create" : "update",
                              .resource = target,
                              .query = "fieldManager=" + percent_encode(kFieldManager),
                              .body = SecretString(json::to_text(lease)),
                              .is_ended_by_stop = true});
}

Result<bool> Lease::Session::write(Record record) {
  record.holder = settings_.identity;
  record.duration_seconds =
      std::chrono::duration_cast<std::chrono::seconds>(timings_.lease_duration).count();
  record.renewed = micro_time(SystemClock().now());
  const bool is_new = !observed_;
  if (is_new || record_.holder != settings_.identity) {
    record.acquired = record.renewed;
    if (!is_new) ++record.transitions;
  }
  const steady_clock::time_point start = steady_clock::now();
  ChangeOutcome outcome = write_as(record);
  is_unsure_ = outcome.kind == ChangeOutcome::Kind::unknown;
  switch (outcome.kind) {
    case ChangeOutcome::Kind::done:
      observe(std::move(outcome.object));
      set_held_until(start + timings_.renew_deadline);
      return true;
    case ChangeOutcome::Kind::conflict:
    case ChangeOutcome::Kind::absent:
      return false;
    default:
      return std::move(outcome).error;
  }
}

// Does what client-go's tryAcquireOrRenew() does.
Result<bool> Lease::Session::try_once() {
  HubClient& hub = lease_.hub_;
  const auto now = steady_clock::now();
  const auto held_until = lease_.held_until();
  const auto end = now + timings_.renew_deadline / 2;
  // No request may outlast the Lease, so that its loss is noticed in time.
  hub.begin(now < held_until ? std::min(end, held_until) : end);
  if (lease_.holds() && observed_ && record_.holder == settings_.identity) {
    const bool is_renewed = TRY(write(record_));
    if (is_renewed) return true;
  }
  std::optional<json::Value> read = TRY(hub.find(resource()));
  if (read) {
    observe(*std::move(read));
  } else {
    observed_.reset();
    record_ = {};
  }
  // If another process is the holder in the record, this one is not. If the Lease is free, the
  // first process to write gets it.
  if (record_.holder != settings_.identity) set_held_until({});
  if (is_held_by_another()) return false;
  return write(record_);
}

void Lease::Session::note(Result<bool> tried) {
  bool is_change = false;
  {
    const std::lock_guard<std::mutex> lock(lease_.mutex_);
    LeaseView& view = lease_.view_;
    const bool holds = lease_.holds();
    const bool had_error = view.error.has_value();
    is_change = holds != view.is_held || record_.holder != view.holder || !tried || had_error ||
                is_renewed_by_another_ != view.is_renewed_by_another;
    view.is_held = holds;
    view.holder = record_.holder;
    view.is_renewed_by_another = is_renewed_by_another_;
    view.error.reset();
    if (!tried) view.error = std::move(tried).error();
    if (is_change) ++view.generation;
  }
  if (!is_change) return;
  lease_.changed_.notify_all();
  lease_.on_change_();
}

// The error for a Lease that is lost because no renewal succeeded. `failure` is the error of the
// last attempt, if it failed.
Error Lease::Session::lost(std::optional<Error> failure) const {
  Error error = std::move(failure).value_or(Error::unavailable("it was not renewed in time"));
  error.context.push_back("renewing the lease " +
                          in_quotes(settings_.name_space + "/" + settings_.name) +
                          ", which is therefore lost");
  return error;
}

void Lease::Session::run() {
  while (!stop_.is_requested()) {
    const auto start = steady_clock::now();
    Result<bool> tried = try_once();
    if (stop_.is_requested()) break;
    const bool is_ours = lease_.holds();
    std::optional<Error> failure;
    if (!tried) failure = tried.error();
    note(std::move(tried));
    // The holder renews the Lease at regular intervals. The pauses of waiting processes are
    // jittered, so that they do not all ask at once.
    const auto next = is_ours ? start + timings_.retry_period
                              : start + lengthened(timings_.retry_period, timings_.jitter);
    const auto end = lease_.held_until();
    if (is_ours && end <= next) {
      // The Lease ends before the next attempt.
      if (stop_.wait_until(end)) break;
      note(lost(std::move(failure)));
    }
    stop_.wait_until(next);
  }
  release();
}

// Does what client-go's release() does.
void Lease::Session::release() {
  const bool was_held = lease_.holds();
  set_held_until({});
  HubClient& hub = lease_.hub_;
  hub.stop_with(nullptr);
  const auto end = steady_clock::now() + kReleaseTime;
  // A renewal that was interrupted by the stop may still have been written.
  bool is_read = !is_unsure_;
  for (int attempt = 0; (was_held || is_unsure_) && attempt < 2; ++attempt) {
    hub.begin(end);
    if (!is_read) {
      Result<std::optional<json::Value>> read = hub.find(resource());
      if (!read || !*read) break;
      observe(*std::move(*read));
    }
    if (record_.holder != settings_.identity) break;
    const std::string now = micro_time(SystemClock().now());
    const Record given_back = {
        .duration_seconds = 1, .acquired = now, .renewed = now, .transitions = record_.transitions};
    const ChangeOutcome outcome = write_as(given_back);
    if (outcome) record_ = given_back;
    if (outcome.kind != ChangeOutcome::Kind::conflict) break;
    is_read = false;
  }
  note(false);
}

Lease::Lease(HubClient hub, LeaseSettings settings)
    : hub_(std::move(hub)), settings_(std::move(settings)) {}

Result<std::unique_ptr<Lease>> Lease::make(HubClient hub, LeaseSettings settings) {
  TRY(check(settings));
  return std::unique_ptr<Lease>(new Lease(std::move(hub), std::move(settings)));
}

void Lease::run(const StopEvent& stop) {
  hub_.stop_with(&stop);
  Session(*this, stop).run();
}

steady_clock::time_point Lease::held_until() const {
  return steady_clock::time_point(steady_clock::duration(held_until_.load()));
}

LeaseView Lease::view() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  LeaseView view = view_;
  view.is_held = holds();
  return view;
}

LeaseView Lease::wait_for_change(std::uint64_t seen, steady_clock::time_point deadline) const {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return view_.generation > seen; });
  LeaseView view = view_;
  view.is_held = holds();
  return view;
}

}  // namespace execcred

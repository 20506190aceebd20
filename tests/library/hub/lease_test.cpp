// SPDX-License-Identifier: Apache-2.0
#include "live_api.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/rfc3339.hpp>
#include <execcred/hub/lease.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using Kind = Error::Kind;

// One second is the shortest duration that a Lease can have.
constexpr LeaseTimings kQuick = {
    .lease_duration = 1s, .renew_deadline = 500ms, .retry_period = 20ms, .jitter = 1.2};

LeaseSettings settings(const std::string& identity, LeaseTimings timings = kQuick) {
  return {.name_space = "fleet", .name = "sync", .identity = identity, .timings = timings};
}

// A candidate in its own thread, which releases the lease at the end.
class Candidate {
 public:
  Candidate(LiveApi& api, const std::string& identity, LeaseTimings timings = kQuick)
      : stop_(StopEvent::make()) {
    REQUIRE(stop_);
    Result<std::unique_ptr<Lease>> lease = Lease::make(api.client(), settings(identity, timings));
    REQUIRE(lease);
    lease_ = std::move(*lease);
    thread_ = std::thread([this] { lease_->run(*stop_); });
  }
  ~Candidate() { end(); }
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;

  void end() {
    stop_->request();
    if (thread_.joinable()) thread_.join();
  }
  const Lease& lease() const { return *lease_; }
  bool will_hold() const {
    return comes_true([this] { return lease_->holds(); });
  }
  LeaseView until(const std::function<bool(const LeaseView&)>& condition) const {
    const auto deadline = steady_clock::now() + 1min;
    LeaseView view = lease_->view();
    while (!condition(view) && steady_clock::now() < deadline) {
      view = lease_->wait_for_change(view.generation, deadline);
    }
    CHECK(condition(view));
    return view;
  }

 private:
  Result<StopEvent> stop_;
  std::unique_ptr<Lease> lease_;
  std::thread thread_;
};

Json spec_of(const LiveApi& api) {
  const std::optional<Json> lease = api.find("leases", "fleet", "sync");
  return lease ? lease->value("spec", Json::object()) : Json::object();
}

// A record as client-go writes it.
Json lease_of(const std::string& holder, int seconds = 1, int transitions = 3) {
  return {
      {"apiVersion", "coordination.k8s.io/v1"},
      {"kind", "Lease"},
      {"metadata", {{"name", "sync"}, {"namespace", "fleet"}, {"annotations", {{"theirs", "1"}}}}},
      {"spec",
       {{"holderIdentity", holder},
        {"leaseDurationSeconds", seconds},
        {"acquireTime", "2026-07-01T12:00:00.000000Z"},
        {"renewTime", "2026-07-01T12:00:00.000000Z"},
        {"leaseTransitions", transitions},
        {"strategy", "OldestEmulationVersion"}}}};
}

TEST_CASE("hub lease: a missing lease is created, renewed and released") {
  LiveApi api;
  {
    const Candidate ours(api, "ours");
    REQUIRE(ours.will_hold());
    const Json spec = spec_of(api);
    CHECK(spec.value("holderIdentity", "") == "ours");
    CHECK(spec.value("leaseDurationSeconds", 0) == 1);
    CHECK(spec.value("leaseTransitions", -1) == 0);
    const std::string acquired = spec.value("acquireTime", "");
    REQUIRE(acquired.size() == std::string("2026-07-01T12:00:00.000000Z").size());
    const Result<TimePoint> time = parse_rfc3339(acquired);
    REQUIRE(time);
    CHECK(*time <= SystemClock().now());
    CHECK(*time > SystemClock().now() - 10min);
    CHECK(comes_true([&] { return spec_of(api).value("renewTime", "") != acquired; }));
    CHECK(spec_of(api).value("acquireTime", "") == acquired);
    CHECK(api.requests("GET", "leases").size() == 1);  // a renewal reads nothing
    CHECK(ours.lease().holds());
    const LeaseView view = ours.lease().view();
    CHECK(view.is_held);
    CHECK(view.holder == "ours");
    CHECK(api.requests("POST", "").front().target ==
          "/apis/coordination.k8s.io/v1/namespaces/fleet/leases?fieldManager=execcred-sync");
  }
  const Json given_back = spec_of(api);
  CHECK(given_back.value("holderIdentity", "x").empty());
  CHECK(given_back.value("leaseDurationSeconds", 0) == 1);
  CHECK(given_back.value("leaseTransitions", -1) == 0);
}

TEST_CASE("hub lease: another holder's lease is taken when its record stops changing") {
  LiveApi api;
  // The holder's clock is ten years ahead, which must not matter.
  Json theirs = lease_of("theirs");
  theirs["spec"]["renewTime"] = "2036-07-01T12:00:00.000000Z";
  api.put("leases", theirs);
  const auto start = steady_clock::now();
  const Candidate ours(api, "ours");
  ours.until([](const LeaseView& view) { return view.holder == "theirs"; });
  CHECK_FALSE(ours.lease().holds());
  // The holder renews it after a while, so the wait begins again.
  REQUIRE(comes_true([&] { return api.requests("GET", "leases").size() >= 3; }));
  theirs["spec"]["renewTime"] = "2036-07-01T12:00:02.000000Z";
  const auto renewed = steady_clock::now();
  api.put("leases", theirs);
  REQUIRE(ours.will_hold());
  CHECK(steady_clock::now() - renewed >= 1s);
  CHECK(steady_clock::now() - start >= 1s);
  const Json spec = spec_of(api);
  CHECK(spec.value("holderIdentity", "") == "ours");
  CHECK(spec.value("leaseTransitions", -1) == 4);
  CHECK(spec.value("acquireTime", "") != "2026-07-01T12:00:00.000000Z");
  // Fields of other writers stay.
  CHECK(spec.value("strategy", "") == "OldestEmulationVersion");
  CHECK(api.find("leases", "fleet", "sync")->at("metadata").at("annotations").at("theirs") == "1");
}

TEST_CASE("hub lease: a released lease is taken at once") {
  LiveApi api;
  api.put("leases", lease_of("", 3600));
  const Candidate ours(api, "ours");
  CHECK(ours.will_hold());
  CHECK(spec_of(api).value("leaseTransitions", -1) == 4);
}

TEST_CASE("hub lease: a lease that another client takes is lost, and acquired again later") {
  LiveApi api;
  const Candidate ours(api, "ours");
  REQUIRE(ours.will_hold());
  api.put("leases", lease_of("thief"));
  const LeaseView lost = ours.until([](const LeaseView& view) { return view.holder == "thief"; });
  CHECK_FALSE(lost.is_held);
  CHECK(comes_true([&] { return spec_of(api).value("holderIdentity", "") == "ours"; }));
  CHECK(ours.will_hold());
}

TEST_CASE("hub lease: a deleted lease is not held until it is created again") {
  LiveApi api;
  const Candidate ours(api, "ours");
  REQUIRE(ours.will_hold());
  // Every attempt to create it again fails.
  std::atomic<bool> is_full = true;
  std::atomic<int> orphans = 0;
  api.before([&](Stream& stream, const Received& request) {
    if (request.method == "PUT" && !api.find("leases", "fleet", "sync")) ++orphans;
    return is_full && request.method == "POST" &&
           stream.write(status_reply(409, "AlreadyExists", "leases \"sync\" already exists"));
  });
  api.erase("leases", "fleet", "sync");
  ours.until([](const LeaseView& view) { return !view.is_held && view.holder.empty(); });
  CHECK(orphans <=
        2);  // one that was already sent, and one that gets the 404; then none until the deadline
  is_full = false;
  CHECK(ours.will_hold());
}

TEST_CASE("hub lease: without a renewal it is no longer held after the renew deadline") {
  LiveApi api;
  Candidate ours(api, "ours");
  REQUIRE(ours.will_hold());
  // The server reads the requests, and never answers.
  std::atomic<bool> is_away = true;
  api.before([&](Stream& stream, const Received&) {
    if (is_away) stream.wait_for_close();
    return is_away.load();
  });
  const auto until = ours.lease().held_until();
  CHECK(until <= steady_clock::now() + kQuick.renew_deadline);
  const LeaseView lost = ours.until([](const LeaseView& view) { return !view.is_held; });
  CHECK_FALSE(ours.lease().holds());
  CHECK(ours.lease().held_until() >= until);
  const LeaseView why = ours.until([](const LeaseView& view) { return view.error.has_value(); });
  CHECK(why.error->kind == Kind::unavailable);
  CHECK(contains(full_text(*why.error), "leases 'fleet/sync'"));
  CHECK(lost.generation > 0);
  is_away = false;
  CHECK(ours.will_hold());
}

TEST_CASE("hub lease: of two candidates only one holds it at a time, and then the other") {
  LiveApi api;
  std::atomic<bool> is_over = false;
  std::atomic<int> both = 0;
  Candidate one(api, "one");
  REQUIRE(one.will_hold());
  Candidate two(api, "two");
  std::thread judge([&] {
    while (!is_over) {
      if (one.lease().holds() && two.lease().holds()) ++both;
      std::this_thread::yield();
    }
  });
  two.until([](const LeaseView& view) { return view.holder == "one"; });
  CHECK_FALSE(two.lease().holds());
  one.end();
  CHECK(two.will_hold());
  is_over = true;
  judge.join();
  CHECK(both == 0);
  CHECK(spec_of(api).value("leaseTransitions", -1) == 1);
}

TEST_CASE("hub lease: the lease is kept if the reply to a renewal is lost") {
  LiveApi api;
  const Candidate ours(api, "ours");
  REQUIRE(ours.will_hold());
  std::atomic<int> lost = 3;
  api.after([&](Stream& stream, const Received& request) {
    if (request.method != "PUT" || lost-- <= 0) return false;
    stream.cut();
    return true;
  });
  CHECK(comes_true([&] { return lost < -1; }));
  CHECK(ours.will_hold());
  CHECK(spec_of(api).value("leaseTransitions", -1) == 0);
}

TEST_CASE("hub lease: each renewal opens a connection, so that none is sent twice") {
  LiveApi api;
  const Candidate ours(api, "ours");
  REQUIRE(ours.will_hold());
  CHECK(comes_true([&] { return api.requests("PUT", "leases").size() >= 3; }));
  const std::size_t renewals = api.requests("PUT", "leases").size();
  CHECK(api.connections() >= renewals);
}

TEST_CASE("hub lease: a stop releases the lease, even during a renewal without a reply") {
  LiveApi api;
  Candidate ours(api, "ours");
  REQUIRE(ours.will_hold());
  // The renewal is stored, but its reply never comes.
  std::atomic<int> renewals = 0;
  api.after([&](Stream& stream, const Received& request) {
    if (request.method != "PUT" || ++renewals > 1) return false;
    stream.wait_for_close();
    return true;
  });
  REQUIRE(comes_true([&] { return renewals == 1; }));
  ours.end();
  CHECK(spec_of(api).value("holderIdentity", "x").empty());
}

TEST_CASE("hub lease: without permission, the hint names the missing RBAC rule") {
  LiveApi api;
  api.before([](Stream& stream, const Received&) {
    return stream.write(status_reply(403, "Forbidden", "leases is forbidden"));
  });
  const Candidate ours(api, "ours");
  const LeaseView view = ours.until([](const LeaseView& now) { return now.error.has_value(); });
  CHECK(view.error->kind == Kind::no_credential);
  CHECK(contains(full_text(*view.error), "verbs [get] on resources [leases]"));
  CHECK(contains(full_text(*view.error), "leases 'fleet/sync'"));
  CHECK_FALSE(view.is_held);
}

TEST_CASE("hub lease: invalid names, identities and timings are refused") {
  LiveApi api;
  const auto fails = [&](LeaseSettings wrong, std::string_view part) {
    const Result<std::unique_ptr<Lease>> lease = Lease::make(api.client(), std::move(wrong));
    check_fails(lease, Kind::configuration, part);
  };
  LeaseSettings bad = settings("ours");
  bad.name = "../x";
  fails(bad, "'fleet/../x' is no NAMESPACE/NAME of a Lease");
  fails(settings(""), "cannot be the identity");
  fails(settings("two words"), "'two words' cannot be the identity");
  fails(settings("ours", {.lease_duration = 1500ms}), "must be whole seconds");
  fails(settings("ours", {.lease_duration = 10s, .renew_deadline = 10s}), "must exceed");
  fails(settings("ours", {.renew_deadline = 4s}), "must exceed its renew deadline");
  fails(settings("ours", {.retry_period = 0s}), "must exceed");
  CHECK(Lease::make(api.client(), settings("ours", {})));
  CHECK(api.requests().empty());
}

}  // namespace
}  // namespace execcred::test

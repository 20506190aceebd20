// SPDX-License-Identifier: Apache-2.0
// What the ledger asks for after failures. tests/simulation plays it in whole days.
#include "sync/ledger.hpp"
#include "sync/job.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <tuple>
#include <utility>

using namespace execcred;
using namespace execcred::sync;
using namespace std::chrono_literals;

namespace {

// The pause after that many failures in a row of one cluster.
Duration pause_after(int failures, bool is_local, Duration retry_after = {}) {
  Ledger ledger({.instance = "default"});
  TimePoint now(1'800'000'000s);
  ledger.apply(event::Listed{.name_space = "fleet", .name = "a", .places = {{.place = "there"}}},
               now);
  ledger.apply(event::Looked{{.is_all = true, .is_known = true, .is_whole = true, .count = 1}},
               now);
  ledger.apply(event::Scanned{}, now);
  Duration pause = {};
  for (int i = 0; i < failures; ++i) {
    Actions actions = ledger.apply(event::Due{}, now);
    REQUIRE(actions.jobs.size() == 1);
    event::Ended ended{.job = std::move(actions.jobs.front())};
    ended.result.failures = {{.cause = "source-missing", .is_local = is_local}};
    ended.result.retry_after = retry_after;
    pause = ledger.apply(std::move(ended), now).until - now;
    now += pause;
  }
  return pause;
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("a cluster whose failures are of this machine is asked again within ten seconds") {
  CHECK(pause_after(1, false) <= 2s);
  CHECK(pause_after(12, false) >= 150s);
  CHECK(pause_after(12, true) <= 10s);
  CHECK(pause_after(12, true) >= 5s);
}

TEST_CASE("clusters that fail take at most half of the turns, and none while another waits") {
  constexpr std::size_t kParallel = 4;
  Ledger ledger({.instance = "default", .parallel = kParallel});
  TimePoint now(1'800'000'000s);
  const auto list = [&](const std::string& name) {
    ledger.apply(event::Listed{.name_space = "fleet", .name = name, .places = {{.place = name}}},
                 now);
  };
  std::deque<Job> running;
  const auto take = [&](Actions actions) {
    std::move(actions.jobs.begin(), actions.jobs.end(), std::back_inserter(running));
  };
  const auto fail_one = [&] {
    event::Ended ended{.job = std::move(running.front())};
    running.pop_front();
    ended.result.failures = {{.cause = "program-timeout", .is_unavailability = true}};
    take(ledger.apply(std::move(ended), now));
  };
  for (const char* const name : {"h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"}) list(name);
  ledger.apply(event::Looked{{.is_all = true, .is_known = true, .is_whole = true, .count = 8}},
               now);
  ledger.apply(event::Scanned{}, now);
  take(ledger.apply(event::Due{}, now));
  CHECK(running.size() == kParallel);
  while (!running.empty()) fail_one();

  now += 1h;
  take(ledger.apply(event::Due{}, now));
  CHECK(running.size() == kParallel / 2);
  for (const char* const name : {"new1", "new2", "new3"}) list(name);
  take(ledger.apply(event::Due{}, now));
  REQUIRE(running.size() == kParallel);
  CHECK(running[2].mark.name == "new1");
  fail_one();
  CHECK(running.back().mark.name == "new3");
}

TEST_CASE("of the renewals that wait, that of the credential that ends first begins") {
  Ledger ledger({.instance = "default", .parallel = 1});
  const std::chrono::sys_seconds now(1'800'000'000s);
  std::vector<Held> held;
  // The one that ends later has been due for longer.
  for (const auto& [name, age, left] : {std::tuple{"later", 20h, 2h}, {"sooner", 3h, 1h}}) {
    held.push_back({.place = name,
                    .mark = {.instance = "default",
                             .name_space = "fleet",
                             .name = name,
                             .issued = now - age,
                             .expires = now + left}});
    ledger.apply(event::Listed{.name_space = "fleet", .name = name, .places = {{.place = name}}},
                 now);
  }
  ledger.apply(event::Looked{{.is_all = true, .is_known = true, .is_whole = true, .count = 2}},
               now);
  ledger.apply(event::Scanned{.held = std::move(held)}, now);
  const Actions actions = ledger.apply(event::Due{}, now);
  REQUIRE(actions.jobs.size() == 1);
  CHECK(actions.jobs.front().mark.name == "sooner");
}

// A cluster's job after a rule refuses it, although another cluster has its place, and whether the
// refusal removes what it holds. `is_valid`: the mapping.
std::pair<Job, std::size_t> refused_with_clash(bool is_valid) {
  Ledger ledger({.instance = "default"});
  const TimePoint now(1'800'000'000s);
  const Mark mark = {.instance = "default", .name_space = "fleet", .name = "a"};
  ledger.apply(event::Listed{.name_space = "fleet",
                             .name = "a",
                             .problem = Failure{.cause = "no-provider", .is_by_rule = true},
                             .places = {{.place = "there"}}},
               now);
  ledger.apply(event::Listed{.name_space = "other", .name = "a", .places = {{.place = "there"}}},
               now);
  ledger.apply(event::Looked{{.is_all = true,
                              .is_known = true,
                              .is_whole = true,
                              .count = 2,
                              .is_mapping_valid = is_valid}},
               now);
  ledger.apply(event::Scanned{{{.place = "there", .mark = mark}}}, now);
  Actions actions = ledger.apply(event::Due{.is_paced = false}, now);
  const auto own = std::find_if(actions.jobs.begin(), actions.jobs.end(),
                                [](const Job& job) { return job.mark.name_space == "fleet"; });
  REQUIRE(own != actions.jobs.end());
  Job job = *own;
  event::Ended ended{.job = *own};
  ended.result.held = job.held;
  ended.result.failures = {*job.problem};
  return {std::move(job), ledger.apply(std::move(ended), now).jobs.size()};
}

TEST_CASE("a rule that refuses a cluster counts, although another cluster has its place") {
  const auto [job, removals] = refused_with_clash(true);
  CHECK(job.problem->cause == "no-provider");
  CHECK(job.may_remove);
  CHECK(removals == 1);
}

TEST_CASE("no rule removes anything while an entry of the mapping is wrong") {
  const auto [job, removals] = refused_with_clash(false);
  CHECK_FALSE(job.may_remove);
  CHECK(removals == 0);
}

TEST_CASE("after a failure, the longer one counts of the own pause and of a store's Retry-After") {
  CHECK(pause_after(1, false, 60s) == 60s);
  CHECK(pause_after(12, false, 60s) >= 150s);
}

TEST_CASE("a failure is by a rule only if its error says so") {
  const auto is_by_rule = [](const Error& error) {
    engine::Item item;
    item.fail(engine::StepId::run, error);
    return failure_of(item).is_by_rule;
  };
  CHECK(is_by_rule(Error::by_rule("config-refused", "no")));
  CHECK_FALSE(is_by_rule(Error{.message = "no", .cause = "config-refused"}));
}

TEST_CASE("a failure is of this machine if the plugin says so, or the program cannot be started") {
  const auto is_local = [](engine::StepId step, bool says_so) {
    engine::Item item;
    item.fail(step, Error{.message = "no", .is_local = says_so, .cause = "source-missing"}, {});
    return failure_of(item).is_local;
  };
  CHECK(is_local(engine::StepId::run, true));
  CHECK_FALSE(is_local(engine::StepId::run, false));
  CHECK(is_local(engine::StepId::program, false));
}

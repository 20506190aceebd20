// SPDX-License-Identifier: Apache-2.0
// What the ledger asks for after failures. tests/simulation plays it in whole days.
#include "sync/ledger.hpp"
#include "sync/job.hpp"

#include <doctest/doctest.h>

using namespace execcred;
using namespace execcred::sync;
using namespace std::chrono_literals;

namespace {

// The pause after that many failures in a row of one cluster.
Duration pause_after(int failures, bool is_local) {
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

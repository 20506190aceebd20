// SPDX-License-Identifier: Apache-2.0
// The ledger of sync in simulated days. The seeds are always the same ones, except in the nightly
// run, which goes on from there for EXECCRED_SIMULATION_MINUTES. EXECCRED_SEED repeats one seed.
#include "conformance/build_kind.hpp"
#include "simulation/world.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <string>

using namespace execcred::simulation;

namespace {

// A sanitizer takes seconds for a seed.
constexpr std::uint64_t kSeeds = blackbox::kIsSanitized ? 50 : 500;

std::uint64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::stoull(text);
}

}  // namespace

TEST_CASE("simulation: no seed breaks an invariant") {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t given = number_in("EXECCRED_SEED");
  const auto end = Clock::now() + std::chrono::minutes(number_in("EXECCRED_SIMULATION_MINUTES"));
  const std::uint64_t first = given == 0 ? 1 : given;
  const std::uint64_t last = given == 0 ? kSeeds : given;
  Outcome all;
  std::uint64_t seed = first;
  for (; seed <= last || (given == 0 && Clock::now() < end); ++seed) {
    const Outcome outcome = simulate({.seed = seed});
    all.runs += outcome.runs;
    all.writes += outcome.writes;
    all.removals += outcome.removals;
    all.conflicts += outcome.conflicts;
    all.kills += outcome.kills;
    if (!outcome.fault.empty()) FAIL_CHECK(report_of(seed));
  }
  CHECK(all.writes > 0);
  CHECK(all.conflicts > 0);
  CHECK(all.kills > 0);
  std::cout << seed - first << " simulated days of 200 clusters: " << all.runs
            << " runs of plugins, " << all.writes << " writes, " << all.removals << " removals, "
            << all.conflicts << " conflicts, " << all.kills << " kills\n";
}

TEST_CASE("simulation: a seed gives the same trace each time, and another one another trace") {
  const auto trace = [](std::uint64_t seed) {
    return simulate({.seed = seed, .length = std::chrono::hours(3), .is_traced = true}).trace;
  };
  CHECK(trace(1).size() > 1000);
  CHECK(trace(1) == trace(1));
  CHECK(trace(1) != trace(2));
}

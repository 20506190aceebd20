// SPDX-License-Identifier: Apache-2.0
// The ledger of sync in simulated days. The first seeds are always the same ones; the nightly run
// goes on from a seed that is drawn, for EXECCRED_SIMULATION_MINUTES. EXECCRED_SEED repeats one
// seed, with EXECCRED_CLUSTERS and EXECCRED_HOURS if its world was another one.
#include "conformance/build_kind.hpp"
#include "simulation/world.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

using namespace execcred::simulation;

namespace {

// A sanitizer takes seconds for a seed.
constexpr std::uint64_t kSeeds = blackbox::kIsSanitized ? 50 : 500;

std::uint64_t number_in(const char* variable, std::uint64_t otherwise = 0) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

struct Days {
  std::uint64_t count = 0;
  Outcome all = {};

  void play(const Options& options) {
    const Outcome outcome = simulate(options);
    ++count;
    all.runs += outcome.runs;
    all.writes += outcome.writes;
    all.removals += outcome.removals;
    all.conflicts += outcome.conflicts;
    all.kills += outcome.kills;
    if (!outcome.fault.empty()) FAIL_CHECK(report_of(options));
  }

  void report(const std::string& what) const {
    CHECK(all.writes > 0);
    CHECK(all.conflicts > 0);
    CHECK(all.kills > 0);
    std::cout << count << " " << what << ": " << all.runs << " runs of plugins, " << all.writes
              << " writes, " << all.removals << " removals, " << all.conflicts << " conflicts, "
              << all.kills << " kills\n";
  }
};

}  // namespace

TEST_CASE("simulation: no seed breaks an invariant") {
  using Clock = std::chrono::steady_clock;
  Days days;
  if (const std::uint64_t given = number_in("EXECCRED_SEED"); given != 0) {
    days.play({.seed = given,
               .clusters = number_in("EXECCRED_CLUSTERS", Options{}.clusters),
               .length = std::chrono::hours(number_in("EXECCRED_HOURS", 24))});
    CHECK(days.all.runs > 0);
    return;
  }
  const auto end = Clock::now() + std::chrono::minutes(number_in("EXECCRED_SIMULATION_MINUTES"));
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) days.play({.seed = seed});
  std::string seeds = "simulated days of 200 clusters, seeds 1 to " + std::to_string(kSeeds);
  const std::uint64_t drawn = kSeeds + 1 + std::random_device{}();
  std::uint64_t seed = drawn;
  for (; Clock::now() < end; ++seed) days.play({.seed = seed});
  if (seed != drawn) seeds += " and " + std::to_string(drawn) + " to " + std::to_string(seed - 1);
  days.report(seeds);
}

// Sanitizers take minutes for such a world. The nightly run has the largest one.
TEST_CASE("simulation: a large fleet and three weeks break no invariant" *
          doctest::skip(blackbox::kIsSanitized)) {
  constexpr std::uint64_t kWorlds = 2;
  const bool is_night = number_in("EXECCRED_SIMULATION_MINUTES") != 0;
  const std::size_t clusters = is_night ? 10'000 : 2'000;
  Days large;
  Days long_ones;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    large.play({.seed = seed, .clusters = clusters});
    long_ones.play({.seed = seed, .length = std::chrono::weeks(3)});
  }
  large.report("simulated days of " + std::to_string(clusters) + " clusters");
  long_ones.report("simulated times of three weeks");
}

TEST_CASE("simulation: a seed gives the same trace each time, and another one another trace") {
  const auto trace = [](std::uint64_t seed) {
    return simulate({.seed = seed, .length = std::chrono::hours(3), .is_traced = true}).trace;
  };
  CHECK(trace(1).size() > 1000);
  CHECK(trace(1) == trace(1));
  CHECK(trace(1) != trace(2));
}

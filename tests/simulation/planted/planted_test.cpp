// SPDX-License-Identifier: Apache-2.0
// The simulation is tested with faults that are planted into the ledger.
#include "planted.hpp"
#include "simulation/world.hpp"

#include <doctest/doctest.h>

#include <iostream>

using namespace execcred::simulation;

namespace {

constexpr std::uint64_t kSeeds = 500;

}  // namespace

TEST_CASE("simulation: each planted fault is found within 500 seeds") {
  const std::vector<std::string> faults = planted_faults();
  CHECK(faults.size() >= 20);
  for (std::size_t fault = 0; fault < faults.size(); ++fault) {
    planted_fault = fault;
    Outcome outcome;
    std::uint64_t seed = 0;
    while (outcome.fault.empty() && seed < kSeeds) outcome = simulate({.seed = ++seed});
    std::cout << faults[fault] << ": seed " << seed << ", " << outcome.fault << "\n";
    CHECK_MESSAGE(!outcome.fault.empty(), faults[fault]);
  }
  planted_fault = kNoFault;
}

TEST_CASE("simulation: the ledger with its switches off is right") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CHECK(simulate({.seed = seed}).fault.empty());
  }
}

// SPDX-License-Identifier: Apache-2.0
// A fleet, its hub, its plugins and two processes of execcred sync, in simulated time. Each process
// has a ledger; the rest of it is simulated too. One number decides everything that happens.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace execcred::simulation {

struct Options {
  std::uint64_t seed = 0;
  std::size_t clusters = 200;
  std::chrono::hours length = std::chrono::hours(24);  // the last hour is quiet
  bool is_traced = false;
};

struct Outcome {
  std::string fault = {};  // the invariant that was broken; empty: none
  std::vector<std::string> trace = {};
  std::size_t events = 0;
  std::size_t runs = 0;  // of plugins
  std::size_t writes = 0;
  std::size_t removals = 0;
  std::size_t conflicts = 0;
  std::size_t kills = 0;  // of processes of sync
};

// Ends at the first broken invariant.
Outcome simulate(const Options& options);

// The fault with its seed, the command that repeats it, and the end of its trace.
std::string report_of(Options options);

}  // namespace execcred::simulation

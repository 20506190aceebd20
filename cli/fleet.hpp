// SPDX-License-Identifier: Apache-2.0
// Many clusters at a time, by as many threads as may be under way at once.
#pragma once

#include "doctor/examination.hpp"
#include "doctor/report.hpp"
#include "doctor/target.hpp"

#include <cstddef>
#include <vector>

namespace execcred::doctor {

struct FleetOptions {
  std::size_t parallel = 16;
  bool shows_progress = false;  // on standard error, a terminal
};

struct FleetResult {
  // Those that are done, in the order of the targets.
  std::vector<Item> items = {};
  // The signal that ended the run before it was done; 0: none. No program that it started is left.
  int signal = 0;
  // Threads that did not end in time are left: the process must end by _exit.
  bool has_stragglers = false;
};

FleetResult examine_all(std::vector<Target> targets, const ExaminationOptions& examination,
                        const FleetOptions& options);

}  // namespace execcred::doctor

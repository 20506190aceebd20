// SPDX-License-Identifier: Apache-2.0
//
// What many runs of a program cost: one after another, many at a time, and the memory of those that
// are alive at once, who share what they have of their file.
#pragma once

#include <optional>
#include <vector>

#include "process.hpp"

namespace bench {

constexpr int kAtOnce = 16;

struct Bulk {
  double sequential_s = 0;
  double at_once_s = 0;            // kAtOnce of them at any time
  std::optional<long> pss_sum_kb;  // of kAtOnce processes, all held as they exit
};

// Every program's runs are split into slices that take turns, in an order that is shuffled each
// time, so that other load of the machine affects all equally.
std::vector<Bulk> run_bulk(const std::vector<Command>& commands, int execs);

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
//
// The cost of many runs of a program: one after another, many at a time, and the memory of many
// processes that run at once and share the pages of their file.
#pragma once

#include <optional>
#include <vector>

#include "process.hpp"

namespace bench {

constexpr int kAtOnce = 16;

struct Bulk {
  double sequential_s = 0;
  double at_once_s = 0;            // with kAtOnce processes at any time
  std::optional<long> pss_sum_kb;  // of kAtOnce processes, all stopped as they exit
};

// The runs of every program are split into slices. The slices of all programs alternate in a random
// order, so that other load of the machine affects all equally.
std::vector<Bulk> run_bulk(const std::vector<Command>& commands, int execs);

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
// Runs the plugin of each cluster, and finds out what the cluster must be told.
#pragma once

#include "output.hpp"

#include "fleet.hpp"

#include <execcred/base/duration.hpp>
#include <execcred/engine/target.hpp>

#include <vector>

namespace execcred::grant {

struct FleetGrants {
  std::vector<Item> items = {};  // those that are done, in the order of the targets
  cli::FleetEnd end = {};
};

// `limit` is the time limit of each run.
FleetGrants grants_of(std::vector<engine::Target> targets, const Rules& rules, Duration limit,
                      const cli::FleetOptions& options);

}  // namespace execcred::grant

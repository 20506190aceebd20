// SPDX-License-Identifier: Apache-2.0
// Runs the plugin of each cluster, and finds out what the cluster must be told.
#pragma once

#include "output.hpp"

#include "fleet.hpp"

#include <execcred/base/duration.hpp>
#include <execcred/engine/target.hpp>

#include <vector>

namespace execcred::grant {

// `limit` is the time limit of each run.
cli::FleetItems<Item> grants_of(std::vector<engine::Target> targets, const Rules& rules,
                                Duration limit, const cli::FleetOptions& options);

}  // namespace execcred::grant

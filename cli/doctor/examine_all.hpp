// SPDX-License-Identifier: Apache-2.0
// Examines many clusters in parallel.
#pragma once

#include "examination.hpp"
#include "steps.hpp"

#include <execcred/engine/target.hpp>

#include "fleet.hpp"

#include <vector>

namespace execcred::doctor {

struct FleetResult {
  // The items of the clusters whose examination ended, in the order of the targets.
  std::vector<Item> items = {};
  cli::FleetEnd end = {};
};

FleetResult examine_all(std::vector<engine::Target> targets, const ExaminationOptions& examination,
                        const cli::FleetOptions& options);

}  // namespace execcred::doctor

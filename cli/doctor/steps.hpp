// SPDX-License-Identifier: Apache-2.0
// The engine's report of a cluster, to which doctor adds the steps over the network.
#pragma once

#include <execcred/engine/report.hpp>

namespace execcred::doctor {

using engine::is_unavailability;
using engine::Item;
using engine::kStepCount;
using engine::Step;
using engine::StepId;
using engine::text_of;
using engine::Verdict;

}  // namespace execcred::doctor

// SPDX-License-Identifier: Apache-2.0
// The metrics of a run for Prometheus (text exposition format 0.0.4).
#pragma once

#include "reconciler.hpp"

#include <string>

namespace execcred::sync {

std::string metrics_text(const Figures& figures);

}  // namespace execcred::sync

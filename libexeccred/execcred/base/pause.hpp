// SPDX-License-Identifier: Apache-2.0
// Waiting between two attempts.
#pragma once

#include <execcred/base/duration.hpp>

#include <chrono>

namespace execcred {

// These functions return at the given time, or at once if it has passed. A signal does not shorten
// the wait.
void pause_until(std::chrono::steady_clock::time_point time);
void pause_for(Duration pause);

// A random time from half of `pause` to `pause`, so that processes that failed together do not try
// again together.
Duration jittered(Duration pause);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// Waiting between two attempts.
#pragma once

#include <execcred/base/duration.hpp>

#include <chrono>

namespace execcred {

// Return when the time has come, at once where it is past. A signal does not shorten the wait.
void pause_until(std::chrono::steady_clock::time_point time);
void pause_for(Duration pause);

// A random part of `pause`, at least its half: processes that failed together do not come back
// together.
Duration jittered(Duration pause);

}  // namespace execcred

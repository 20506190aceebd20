// SPDX-License-Identifier: Apache-2.0
// Waiting between two attempts.
#pragma once

#include <execcred/base/duration.hpp>

#include <chrono>

namespace execcred {

// Return at the given time; at once if it has passed. A signal does not shorten the wait.
void pause_until(std::chrono::steady_clock::time_point time);
void pause_for(Duration pause);

// A random time of at least half of `pause`: processes that failed together do not try again
// together.
Duration jittered(Duration pause);

}  // namespace execcred

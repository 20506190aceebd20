// SPDX-License-Identifier: Apache-2.0
// A program stopped at every system call: the one way to change something under its hands at a
// chosen moment, without a race.
#pragma once

#include "child_process.hpp"

#include <functional>

namespace blackbox {

// Calls `at_stop` before and after each system call that the program makes.
Outcome run_with_stops(Command command, const std::function<void()>& at_stop);

}  // namespace blackbox

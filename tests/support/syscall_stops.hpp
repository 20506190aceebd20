// SPDX-License-Identifier: Apache-2.0
// A program stopped at every system call: the one way to change something under its hands at a
// chosen moment, without a race.
#pragma once

#include "child_process.hpp"

#include <functional>

namespace blackbox {

// Calls `at_stop` before and after each system call that the program makes.
Outcome run_with_stops(Command command, const std::function<void()>& at_stop);

// Gives the program a parent of its own, which is killed and gone before the first system call for
// which `is_moment` is true. The outcome has the exit code and the output, no error output.
Outcome run_and_lose_parent(const Command& command,
                            const std::function<bool(long call, long argument)>& is_moment);

}  // namespace blackbox

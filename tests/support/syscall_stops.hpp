// SPDX-License-Identifier: Apache-2.0
// Stops a program at every system call, so that a test can change something at a chosen moment
// without a race.
#pragma once

#include "child_process.hpp"

#include <functional>

namespace blackbox {

// Calls `at_stop` before and after each system call that the program makes.
Outcome run_with_stops(Command command, const std::function<void()>& at_stop);

// Starts the program from its own parent process, which is killed before the first system call for
// which `is_moment` is true. The outcome has the exit code and the output, but no error output. The
// exit code is 203 if the program ended before such a moment.
Outcome run_and_lose_parent(const Command& command,
                            const std::function<bool(long call, long argument)>& is_moment);

}  // namespace blackbox

// SPDX-License-Identifier: Apache-2.0
// Runs a program that sees another host name, like that of another machine or Pod.
#pragma once

#include "child_process.hpp"

#include <optional>

namespace blackbox {

// Runs the command under another host name. nullopt if this user or system cannot set one for a
// process; a message that begins with "skipped: " reports this.
std::optional<Outcome> run_on_another_host(Command command);

}  // namespace blackbox

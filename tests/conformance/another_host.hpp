// SPDX-License-Identifier: Apache-2.0
// A program on what looks to it like another machine, or another Pod.
#pragma once

#include "child_process.hpp"

#include <optional>

namespace blackbox {

// The command under another host name. nullopt where this user or system gives no process one; a
// message that begins with "skipped: " tells so.
std::optional<Outcome> run_on_another_host(Command command);

}  // namespace blackbox

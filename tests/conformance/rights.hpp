// SPDX-License-Identifier: Apache-2.0
// Runs a program with what only some users and systems allow, such as mounts of its own. A plain
// chroot and an ordinary container allow less than a machine.
#pragma once

#include "child_process.hpp"

#include <functional>
#include <optional>
#include <string>

namespace blackbox {

// Runs the command; its process first calls `prepare`. nullopt if that returns false; then a
// message that begins with "skipped: " says that the test needs `what`.
std::optional<Outcome> run_if_allowed(Command command, const std::string& what,
                                      std::function<bool()> prepare);

// For `prepare`: gives the process mounts of its own. Needs CAP_SYS_ADMIN and a root directory that
// is a mount point.
bool make_mounts_private();

// Runs the command under another host name, like that of another machine or Pod.
std::optional<Outcome> run_on_another_host(Command command);

}  // namespace blackbox

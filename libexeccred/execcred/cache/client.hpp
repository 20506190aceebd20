// SPDX-License-Identifier: Apache-2.0
// The client: the process that started this one, and uses the printed credential until it ends or a
// server refuses it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace execcred {

// The parent's process id, its start time and its pid namespace, as one text. No other process on
// this machine has the same text before the next boot. nullopt if /proc does not have this
// information.
std::optional<std::string> parent_identity();

// The start time: field 22 of /proc/PID/stat; nullopt if it is missing or is not a number. Field 2,
// the program's name, may contain any characters.
std::optional<std::string_view> start_time_of(std::string_view stat);

}  // namespace execcred

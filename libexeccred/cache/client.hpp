// SPDX-License-Identifier: Apache-2.0
// The client: the process that started this one, and uses the printed credential until it ends or a
// server refuses it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace execcred {

// The parent's process id, its start time and its pid namespace, as one text: no other process has
// had or will have the same before the machine starts again. nullopt where /proc lacks it.
std::optional<std::string> parent_identity();

// The 22nd field of /proc/PID/stat. The second, the program's name, may hold anything.
std::optional<std::string_view> start_time_of(std::string_view stat);

}  // namespace execcred

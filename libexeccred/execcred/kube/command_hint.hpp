// SPDX-License-Identifier: Apache-2.0
// What to say of an exec section's command that does not exist.
#pragma once

#include <string_view>

namespace execcred {

// Clients do not split a command at its blanks. `otherwise` is the hint for one without blanks.
inline std::string_view missing_command_hint(std::string_view command, std::string_view otherwise) {
  const bool has_blanks = command.find_first_of(" \t\n") != std::string_view::npos;
  return has_blanks ? "write only the program as the command, and its arguments under args"
                    : otherwise;
}

}  // namespace execcred

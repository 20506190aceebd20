// SPDX-License-Identifier: Apache-2.0
// Checks the file that a command names: whether it exists, can be run, and can be changed only by
// its owner.
#pragma once

#include "findings.hpp"

#include <string>
#include <string_view>

namespace execcred::lint {

// `command` is an absolute path. `path` is the path of its field.
void check_program(const Scope& scope, const std::string& command, std::string_view path);

}  // namespace execcred::lint

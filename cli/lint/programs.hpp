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

// The path that users other than the owner may write: the file, or a folder above it; empty if
// there is none.
std::string weak_point(const std::filesystem::path& file);

}  // namespace execcred::lint

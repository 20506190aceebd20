// SPDX-License-Identifier: Apache-2.0
// The file that a command names: whether it is there, can be run, and can be changed by nobody
// but its owner.
#pragma once

#include "lint_findings.hpp"

#include <string>
#include <string_view>

namespace execcred::lint {

// `command` is an absolute path; `path` that of its field.
void check_program(const Scope& scope, const std::string& command, std::string_view path);

// Others than its owner may write it, or something on the way to it; empty if nobody may.
std::string weak_point(const std::filesystem::path& file);

}  // namespace execcred::lint

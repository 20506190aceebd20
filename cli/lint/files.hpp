// SPDX-License-Identifier: Apache-2.0
// The files that lint is given: files, folders and standard input.
#pragma once

#include "findings.hpp"

#include <string>
#include <string_view>

namespace execcred::lint {

// The file of findings in what standard input holds.
inline constexpr std::string_view kStandardInput = "standard input";

// Checks a file, the manifests of a folder (.yaml, .yml, .json; also in the folders inside, each of
// which is a group of its own), or standard input ("-"). A file that cannot be read is a finding.
// Returns the number of checked files.
std::size_t check_operand(Run& run, const std::string& operand);

}  // namespace execcred::lint

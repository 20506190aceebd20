// SPDX-License-Identifier: Apache-2.0
// Why a file cannot be run as a program, with the cause that `execcred doctor` reports.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct ProgramFault {
  std::string_view cause = {};
  std::string message = {};
  std::string_view hint = {};  // empty: install the program, or correct its path
  // The kernel decides whether it can run: it may know the format (32-bit, binfmt_misc).
  bool is_foreign = false;
};

// What stands against running the file. nullopt if nothing is known: a program may be executable
// without being readable.
std::optional<ProgramFault> program_fault(const std::string& path);

// The path that users other than the owner may write: the file, or a folder above it; empty if
// there is none.
std::string weak_point(const std::filesystem::path& file);

// The name of the command's file: "execcred-token-file" for "/plugins/execcred-token-file".
std::string_view program_name(std::string_view command);
// Whether that is the name of an execcred plugin: "execcred-…".
bool is_plugin_of_ours(std::string_view command);

}  // namespace execcred

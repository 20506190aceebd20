// SPDX-License-Identifier: Apache-2.0
// The plugins beside this program, and their copies: each is written under another name, compared
// with what was read, and only then takes its name, so that under it is never a part of a program.
#pragma once

#include "install_directory.hpp"

#include <execcred/base/result.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

struct InstalledPlugin {
  std::string name;
  std::size_t size = 0;   // bytes
  std::string digest;     // SHA-256, hexadecimal
  std::string_view done;  // installed, replaced, unchanged
};

bool is_plugin_name(std::string_view name);

// Where this program is, by the kernel's word, also in a root without /proc. Fails (configuration).
Result<std::filesystem::path> own_directory();

// The names of all executables there that are called as plugins are, sorted; or the wanted ones,
// of which kubectl-execcred is this program.
// Fails (configuration) where there is none, or not one that is wanted.
Result<std::vector<std::string>> choose_plugins(const std::filesystem::path& source,
                                                const std::vector<std::string>& wanted);

// No plugin takes its place before all are written. Fails (configuration, or unavailable where a
// file system gave back another content than it was given).
Result<std::vector<InstalledPlugin>> install_plugins(const std::filesystem::path& source,
                                                     const std::vector<std::string>& names,
                                                     const InstallDirectory& target);

}  // namespace execcred::cli

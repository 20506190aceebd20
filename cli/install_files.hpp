// SPDX-License-Identifier: Apache-2.0
// The plugins beside this program, and their copies: each is written under a temporary name,
// compared with the original, and then renamed, so that its name never refers to an incomplete
// program.
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

// The directory of this program, as the kernel knows it. It is found without /proc too. Fails
// (configuration) if it cannot be found.
Result<std::filesystem::path> own_directory();

// The sorted names of all executables in `source` that have the name of a plugin. If `wanted` is
// not empty, the names in `wanted`; the name kubectl-execcred stands for a copy of this program.
// Fails (configuration) if there is no plugin, or if a wanted one is missing.
Result<std::vector<std::string>> choose_plugins(const std::filesystem::path& source,
                                                const std::vector<std::string>& wanted);

// Writes all copies before it renames the first one. Fails with configuration, or with unavailable
// if the file system returned other content than was written.
Result<std::vector<InstalledPlugin>> install_plugins(const std::filesystem::path& source,
                                                     const std::vector<std::string>& names,
                                                     const InstallDirectory& target);

}  // namespace execcred::cli

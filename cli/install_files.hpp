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

// The path of this program from the kernel, also in a root without /proc. Fails (configuration).
Result<std::filesystem::path> own_directory();

// The sorted names of all executables there with a plugin's name; or the requested ones, of which
// kubectl-execcred is this program. Fails (configuration) if there is none, or a requested one is
// missing.
Result<std::vector<std::string>> choose_plugins(const std::filesystem::path& source,
                                                const std::vector<std::string>& wanted);

// All are written before any is renamed. Fails with configuration, or with unavailable if the file
// system returned other content than was written.
Result<std::vector<InstalledPlugin>> install_plugins(const std::filesystem::path& source,
                                                     const std::vector<std::string>& names,
                                                     const InstallDirectory& target);

}  // namespace execcred::cli

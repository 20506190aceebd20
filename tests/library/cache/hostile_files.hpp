// SPDX-License-Identifier: Apache-2.0
// Hostile files in place of a cache file.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace execcred::test {

struct HostileFile {
  const char* name;
  std::function<void(const std::filesystem::path&)> put;  // in place of an existing file
  bool needs_root = false;
};

std::vector<HostileFile> hostile_files();

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
#include "volume.hpp"

#include <fstream>
#include <utility>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  fs::permissions(path, fs::perms(0644));
}

}  // namespace

Volume::Volume(fs::path root) : root_(std::move(root)) {
  fs::create_directory(root_);
  fs::permissions(root_, fs::perms(0755));
}

void Volume::set(const std::map<std::string, std::string>& files) {
  const std::string name = "..2026_07_01_12_00_00." + std::to_string(++generation_);
  fs::create_directory(root_ / name);
  for (const auto& [key, content] : files) write(root_ / name / key, content);
  fs::create_symlink(name, root_ / "..data_tmp");
  fs::rename(root_ / "..data_tmp", root_ / "..data");
  for (const auto& [key, content] : files) {
    if (!fs::is_symlink(root_ / key)) fs::create_symlink("..data/" + key, root_ / key);
  }
  if (!former_.empty()) fs::remove_all(root_ / former_);
  former_ = name;
}

void write_atomically(const fs::path& path, const std::string& content) {
  const fs::path new_path = path.native() + ".new";
  write(new_path, content);
  fs::rename(new_path, path);
}

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
#include "hostile_files.hpp"

#include "unit/temp_dir.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <string>
#include <string_view>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 54321;

void put_file(const fs::path& path, std::string_view content, mode_t mode = 0600) {
  fs::remove_all(path);
  write_file(path, content, mode);
}

void put_large_file(const fs::path& path) {
  put_file(path, "x");
  fs::resize_file(path, 10'000'000);
}

}  // namespace

std::vector<HostileFile> hostile_files() {
  return {{"a symbolic link",
           [](const fs::path& path) {
             fs::rename(path, path.native() + "-real");
             fs::create_symlink(path.native() + "-real", path);
           }},
          {"a named pipe",
           [](const fs::path& path) {
             fs::remove(path);
             REQUIRE(mkfifo(path.c_str(), 0600) == 0);
           }},
          {"a second name",
           [](const fs::path& path) { fs::create_hard_link(path, path.native() + "-2"); }},
          {"a directory",
           [](const fs::path& path) {
             fs::remove(path);
             make_directory(path, 0700);
           }},
          {"readable by the group", [](const fs::path& path) { set_mode(path, 0640); }},
          {"writable by others", [](const fs::path& path) { set_mode(path, 0602); }},
          {"of another user", [](const fs::path& path) { give_to(path, kStranger); }, true},
          {"empty", [](const fs::path& path) { put_file(path, ""); }},
          {"10 MB", [](const fs::path& path) { put_large_file(path); }},
          {"cut", [](const fs::path& path) { put_file(path, content_of(path).substr(0, 150)); }},
          {"zeroes", [](const fs::path& path) { put_file(path, std::string(300, '\0')); }},
          {"JSON", [](const fs::path& path) { put_file(path, "{\"token\":\"evil\"}"); }}};
}

}  // namespace execcred::test

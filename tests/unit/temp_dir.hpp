// SPDX-License-Identifier: Apache-2.0
// A directory of a test's own, gone at its end, and the files in it.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace execcred::test {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "execcred-unit-XXXXXX").native();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = std::filesystem::canonical(name);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void set_mode(const std::filesystem::path& path, mode_t mode) {
  if (chmod(path.c_str(), mode) != 0) throw std::runtime_error("cannot chmod " + path.native());
}

inline std::filesystem::path write_file(const std::filesystem::path& path, std::string_view content,
                                        mode_t mode = 0600) {
  std::ofstream(path, std::ios::binary) << content;
  set_mode(path, mode);
  return path;
}

inline std::filesystem::path make_directory(const std::filesystem::path& path, mode_t mode = 0755) {
  std::filesystem::create_directory(path);
  set_mode(path, mode);
  return path;
}

inline void give_to(const std::filesystem::path& path, uid_t owner) {
  if (lchown(path.c_str(), owner, static_cast<gid_t>(owner)) != 0) {
    throw std::runtime_error("cannot chown " + path.native());
  }
}

// What could not be tested here, printed one by one and counted at the end.
class NotRun {
 public:
  static void add(std::string_view what) {
    static NotRun all;
    ++all.count_;
    std::printf("not run, needs root: %.*s\n", static_cast<int>(what.size()), what.data());
  }
  NotRun(const NotRun&) = delete;
  NotRun& operator=(const NotRun&) = delete;

 private:
  NotRun() = default;
  ~NotRun() { std::printf("%d checks were not run: they need root\n", count_); }

  int count_ = 0;
};

inline bool is_root_or_counted(std::string_view what) {
  if (geteuid() == 0) return true;
  NotRun::add(what);
  return false;
}

}  // namespace execcred::test

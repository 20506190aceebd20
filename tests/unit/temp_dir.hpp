// SPDX-License-Identifier: Apache-2.0
// A temporary directory for one test, which is removed at the end, and helpers for its files.
#pragma once

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

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

// Empty if the file cannot be read.
inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
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

// A tmpfs on a directory, until the end of the scope. It needs root. It uses no mount namespace,
// because a plain chroot has no root mount that could be made private.
class SmallFileSystem {
 public:
  SmallFileSystem(std::filesystem::path at, const char* options, unsigned long flags)
      : at_(std::move(at)),
        is_mounted_(mount("execcred", at_.c_str(), "tmpfs", flags, options) == 0) {}
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;
  ~SmallFileSystem() {
    if (is_mounted_) umount2(at_.c_str(), MNT_DETACH);
  }

  bool is_mounted() const { return is_mounted_; }

 private:
  std::filesystem::path at_;
  bool is_mounted_;
};

// Prints each skipped check, and their number at the end.
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

// SPDX-License-Identifier: Apache-2.0
// Where execcred install copies to: a directory that is there, and that one run at a time writes
// to.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/os/file.hpp>

#include <filesystem>

namespace execcred::cli {

class InstallDirectory {
 public:
  // Waits for another run to finish, and removes what killed ones left. Fails (configuration) where
  // it is missing or no directory.
  static Result<InstallDirectory> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  // Fails (configuration) where the two are one directory, by whatever paths.
  Status check_is_not(const std::filesystem::path& source) const;

 private:
  InstallDirectory(std::filesystem::path path, FileDescriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::filesystem::path path_;
  FileDescriptor descriptor_;  // holds the lock
};

}  // namespace execcred::cli

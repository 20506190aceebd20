// SPDX-License-Identifier: Apache-2.0
// The target of execcred install: an existing directory, to which one run at a time writes.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/os/file.hpp>

#include <filesystem>

namespace execcred::cli {

class InstallDirectory {
 public:
  // Opens the directory, waits until no other run writes to it, and removes the unfinished files of
  // killed runs. Fails (configuration) if the directory does not exist or cannot be opened.
  static Result<InstallDirectory> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  // Fails (configuration) if the two are the same directory, even by different paths.
  Status check_is_not(const std::filesystem::path& source) const;

 private:
  InstallDirectory(std::filesystem::path path, FileDescriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::filesystem::path path_;
  FileDescriptor descriptor_;  // holds the lock
};

}  // namespace execcred::cli

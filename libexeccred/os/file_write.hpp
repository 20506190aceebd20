// SPDX-License-Identifier: Apache-2.0
// Replaces a file whole: readers see the old content or the new, never a part, whatever happens
// in between (a full disk, a signal, a power failure).
#pragma once

#include <execcred/base/result.hpp>

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>

namespace execcred {

// A file with a temporary name beside the one that it replaces at the end. Until then its owner
// removes it; the file of a killed process stays, and is_name() recognises it.
class NewFile {
 public:
  // Whole, and on the disk, with these permissions whatever the umask is. Fails (configuration).
  static Result<NewFile> write(const std::filesystem::path& target, std::string_view content,
                               mode_t mode);

  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&& other) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  const std::string& path() const { return path_; }
  // Replaces whatever has the target's name (a running program, a symbolic link itself). Fails
  // (configuration).
  Status take_place();

  // Whether a file of that name would have been written for this target.
  static bool is_name(std::string_view name, std::string_view target_name);

 private:
  explicit NewFile(const std::filesystem::path& target);

  std::filesystem::path target_;
  std::string path_;  // empty once there is nothing to remove
};

// Signals that would end the process are blocked while it lives, so that no new file is left
// behind.
class SignalsHeld {
 public:
  SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld();

 private:
  sigset_t before_ = {};
};

// Fails (configuration) where replace_file() would for what `path` is: something other than a
// regular file that its owner may write. A file that is not there can be replaced.
Status check_replaceable(const std::filesystem::path& path);

enum class Written { replaced, unchanged };

// Writes a new file beside `path`, readable by this user alone, and renames it over. A file with
// this content is not touched, and keeps its mtime. Fails (configuration): the directory is missing
// or not writable, the disk is full, or `path` is something other than a regular file that its
// owner may write; nothing is left behind then. Leftovers of killed processes for this `path` are
// removed.
Result<Written> replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace execcred

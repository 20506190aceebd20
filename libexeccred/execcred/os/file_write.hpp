// SPDX-License-Identifier: Apache-2.0
// Replaces a whole file. Readers see the old content or the new, never a part, also after a failure
// in between (a full disk, a signal, a power failure).
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/os/file.hpp>

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace execcred {

// A file with a temporary name beside the one that it replaces at the end. Until then, the
// destructor removes it. If the process is killed, the file stays, and is_name() recognises it.
class NewFile {
 public:
  // Creates the new file, empty, and removes those that killed processes left for this target.
  // Fails (configuration), also if the target is something other than a regular file, or a symbolic
  // link to something other than that: a folder, a pipe or a device.
  static Result<NewFile> create(const std::filesystem::path& target);
  // create() and fill(), for a caller that holds the folder's lock and removes what is left there.
  static Result<NewFile> write(const std::filesystem::path& target, std::string_view content,
                               mode_t mode);

  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&& other) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  const std::string& path() const { return path_; }
  // Writes the whole content to the new file, once, and syncs it to the disk. The permissions are
  // `mode`, regardless of the umask. Fails (configuration).
  Status fill(std::string_view content, mode_t mode);
  // Replaces the file that has the target's name, also a running program, or a symbolic link
  // itself. Fails (configuration).
  Status take_place();

  // Whether a new file for this target could have that name.
  static bool is_name(std::string_view name, std::string_view target_name);

 private:
  explicit NewFile(const std::filesystem::path& target);
  Status open();

  FileDescriptor lock_;  // of the folder
  std::filesystem::path target_;
  std::string path_;  // empty once there is nothing to remove
  FileDescriptor file_;
};

// Writes the whole content. Returns false, with errno set, at the first failure.
bool write_whole(int descriptor, std::string_view content);

// Fails (configuration) if replace_file() would refuse `path` as it is: if it is anything other
// than a regular file that its owner may write. A file that does not exist can be replaced.
Status check_replaceable(const std::filesystem::path& path);

enum class Written { replaced, unchanged };

// Writes a new file beside `path`, readable by this user alone, and renames it to `path`. A file
// that has this content already is not touched, and keeps its mtime. Fails (configuration) if the
// directory is missing or not writable, if the disk is full, or if `path` is anything other than a
// regular file that its owner may write; then no new file is left behind. The files that killed
// processes left for this `path` are removed.
Result<Written> replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace execcred

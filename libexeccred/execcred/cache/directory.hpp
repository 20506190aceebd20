// SPDX-License-Identifier: Apache-2.0
// The directory of the credential cache, and access to its files.
//
// The directory must belong to this user, be closed to others (mode 0700), not be a symbolic link,
// and only root or this user may have been able to create it there (the rules of file.hpp). All its
// files are opened relative to one descriptor of it. A file is used only if it is a regular file,
// belongs to this user, is closed to others, has one hard link, and is not too large.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/os/file.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

class CacheDirectory {
 public:
  enum class IfMissing { create, leave };

  // Opens `asked` (--cache-dir); if it is empty, $EXECCRED_CACHE_DIR; if that is not set, the first
  // of $XDG_RUNTIME_DIR/execcred, $XDG_CACHE_HOME/execcred, $HOME/.cache/execcred and
  // /dev/shm/execcred-<uid> that exists or (IfMissing::create) can be created. Fails
  // (configuration) if that directory is not safe, or if there is none.
  static Result<CacheDirectory> open(std::string_view asked, const Environment& environment,
                                     IfMissing if_missing);
  // Like open(), but creates no directory: nullopt if none exists. Fails (configuration) if the
  // directory is not safe.
  static Result<std::optional<CacheDirectory>> find(std::string_view asked,
                                                    const Environment& environment);

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_.get(); }

  // nullopt if the file does not exist, may not be used, or is larger than `max_bytes`.
  std::optional<SecretString> read(const std::string& name, std::size_t max_bytes) const;

  // Replaces the file: readers see either the old content or the new. `ends_at` becomes the file's
  // mtime, by which cleaning (docs/cache.md) finds expired files. Fails (unavailable); no
  // incomplete file remains then.
  Status write(const std::string& name, std::string_view content, TimePoint ends_at) const;

  enum class Marked { now, before, failed };
  // Creates an empty file; returns `before` if it exists already.
  Marked mark(const std::string& name) const;

  void remove(const std::string& name) const;

  // Lists the cache's files. A file of another program in the directory is not listed, whatever its
  // ending. Reads at most `limit` names in the file system's order, starting at `position` (0: the
  // first), and after the last name again from the first. Sets `position` to the place of the name
  // after the last one read, or to 0 if all names were read.
  std::vector<std::string> names(std::size_t limit, long& position) const;

 private:
  CacheDirectory(std::string path, FileDescriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  bool is_in_memory() const;

  std::string path_;
  FileDescriptor descriptor_;

  friend class CacheCandidate;
};

}  // namespace execcred

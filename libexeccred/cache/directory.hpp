// SPDX-License-Identifier: Apache-2.0
// Where the credential cache is, and its files.
//
// The directory belongs to this user, has mode 0700, is no symbolic link, and only root or this
// user could have created it there (the rules of file.hpp). Everything in it is opened through one
// descriptor of it. A file is used only if it is regular, belongs to this user, is closed to
// others, has one name, and is not too large.
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

  // `asked` (--cache-dir), else $EXECCRED_CACHE_DIR, else the first of $XDG_RUNTIME_DIR/execcred,
  // $XDG_CACHE_HOME/execcred, $HOME/.cache/execcred and /dev/shm/execcred-<uid> that exists or can
  // be created. Fails (configuration) if that one is not safe, or there is none.
  static Result<CacheDirectory> open(std::string_view asked, const Environment& environment,
                                     IfMissing if_missing);
  // The same without creating one: nullopt where open() would create it. Fails if it is not safe.
  static Result<std::optional<CacheDirectory>> find(std::string_view asked,
                                                    const Environment& environment);

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_.get(); }

  // nullopt: there is none, or it may not be used.
  std::optional<SecretString> read(const std::string& name, std::size_t max_bytes) const;

  // Readers see the old content or the new. `ends_at` becomes the file's mtime, which remove_old()
  // reads. Fails (unavailable); nothing is left behind then.
  Status write(const std::string& name, std::string_view content, TimePoint ends_at) const;

  enum class Marked { now, before, failed };
  // Makes an empty file, unless there is one.
  Marked mark(const std::string& name) const;

  void remove(const std::string& name) const;

  // At most `limit`, in the file system's order, from `position` on (0: the first), and again from
  // the first. `position` becomes that of the name behind the last; 0 if that was the last of all.
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

// SPDX-License-Identifier: Apache-2.0
// The walk from the root to a trusted file; file.hpp has the rules.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/os/file.hpp>

#include <sys/stat.h>

#include <deque>
#include <filesystem>
#include <optional>
#include <string>

namespace execcred {

Error cannot_read(const std::filesystem::path& path, const std::string& why);
// With the message of an errno value, and unavailable as the kind if the fault may pass.
Error cannot_read(const std::filesystem::path& path, int error_number);

// Why another user could have made or changed the file that `status` describes; empty if none
// could.
std::string distrust(const struct stat& status);

// The folders from the root to one of them.
struct FolderWay {
  std::string folder = {};  // without symbolic links, if `why` is empty
  std::string at = {};      // a folder on the way that another user could have made or replaced
  std::string why = {};     // empty: there is none
  int error_number = 0;     // why the way ends before the folder
};
// If one of them is a symbolic link (/var/run, a home on another disk), the way to its target is
// checked instead, once.
FolderWay check_way_to_folder(std::string folder);

// Fails (configuration) if another user could have made or replaced the socket: it or a directory
// on its way belongs to another user, or others may write to such a directory. The caller that
// connects to it learns what else is wrong with it, for example that it does not exist.
Status check_way_to_socket(const std::filesystem::path& path);

// "a directory", "a named pipe".
std::string_view file_kind_name(mode_t mode);

struct OpenFile {
  FileDescriptor descriptor;
  struct stat status = {};
};

// One walk. If only trusted users can change a directory, it does not change after the check, so
// names below it are looked up by path. If others may create entries in a directory, the entry
// itself is held open.
class Walk {
 public:
  // `kind` is the kind of the file: S_IFREG, or S_IFSOCK, which is not opened.
  explicit Walk(std::filesystem::path path, mode_t kind = S_IFREG)
      : asked_(std::move(path)), kind_(kind) {}

  // Returns nullopt if the file does not exist, or was replaced during the walk; is_absent()
  // distinguishes them. Fails as read_secret_file() does.
  Result<std::optional<OpenFile>> open_file();
  // Whether the last directory has no entry of the file's name.
  bool is_absent() const { return is_absent_; }
  // Whether it failed because of an owner or a mode.
  bool is_distrusted() const { return is_distrusted_; }
  // The directory in which the walk ended, with symlinks resolved. If the walk followed symlinks,
  // another walk may end in another directory.
  const std::filesystem::path& reached() const { return here_; }
  bool followed_symlinks() const { return symlinks_ > 0; }

 private:
  struct Entry {
    FileDescriptor held;  // where it must not be replaced
    struct stat status = {};
  };
  // The result of one step. If a name has disappeared or changed its kind since the check, the
  // volume was replaced.
  enum class Step { walked, opened, swapped };

  Status start();
  Result<Step> step(OpenFile& file);
  bool look_at(const std::string& name, Entry& entry) const;
  Result<Step> follow(const std::string& name, const Entry& entry, bool is_last);
  Result<Step> enter(const std::string& name, Entry entry);
  Result<Step> open_regular(const std::string& name, OpenFile& file);
  Status check(const struct stat& status, const std::string& name);

  void go_to_root();
  int base() const;
  std::string path_of(const std::string& name) const;

  std::filesystem::path asked_;
  mode_t kind_;
  std::filesystem::path here_;     // for messages
  FileDescriptor held_;            // the last directory that is held, if any
  std::string below_;              // from there, or from the root; ends in '/' unless empty
  bool is_shared_ = false;         // it is sticky, and others may create entries in it
  std::deque<std::string> names_;  // still to be walked
  int symlinks_ = 0;
  bool is_confined_ = false;  // a symlink of the last name was followed
  std::size_t depth_ = 0;     // below the directory that confines
  bool is_absent_ = false;
  bool is_distrusted_ = false;
};

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/log_file.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace execcred {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;

Error cannot_log(const fs::path& path, const std::string& why) {
  return Error{.kind = Error::Kind::configuration,
               .message = "cannot log to " + in_quotes(path.native()) + ": " + why};
}

bool is_trusted_owner(uid_t owner) { return owner == 0 || owner == geteuid(); }

// Fails (configuration) if another user can have created or can replace the folder, or if it cannot
// be examined. Of a symbolic link, only the owner is checked.
Status check_folder(const fs::path& log, const std::string& folder, bool& is_link) {
  struct stat status = {};
  if (lstat(folder.c_str(), &status) != 0) return cannot_log(log, system_message(errno));
  is_link = S_ISLNK(status.st_mode);
  const bool is_sticky_of_root = status.st_uid == 0 && (status.st_mode & S_ISVTX) != 0;
  if (!is_trusted_owner(status.st_uid)) {
    return cannot_log(log, in_quotes(folder) + " belongs to user " + std::to_string(status.st_uid));
  }
  if (is_link || (status.st_mode & kOthersMayWrite) == 0 || is_sticky_of_root) return {};
  return cannot_log(log, in_quotes(folder) + " is writable by other users");
}

// Checks the folders from the root to the last. Sets `has_links` and stops at a symbolic link,
// whose target is not checked.
Status check_folders(const fs::path& log, const std::string& last, bool& has_links) {
  for (std::size_t end = last.find('/', 1);; end = last.find('/', end + 1)) {
    TRY(check_folder(log, last.substr(0, end), has_links));
    if (has_links || end == std::string::npos) return {};
  }
}

Result<std::string> safe_folder(const fs::path& path) {
  std::error_code problem;
  fs::path folder = path.parent_path();
  if (folder.is_relative()) folder = fs::current_path(problem) / folder;
  if (problem) return cannot_log(path, problem.message());
  bool has_links = false;
  TRY(check_folders(path, folder.lexically_normal().native(), has_links));
  if (!has_links) return folder.native();
  const std::unique_ptr<char, void (*)(void*)> real(realpath(folder.c_str(), nullptr), std::free);
  if (!real) return cannot_log(path, system_message(errno));
  has_links = false;
  TRY(check_folders(path, real.get(), has_links));
  if (has_links) return cannot_log(path, "a symbolic link on the way changes");
  return std::string(real.get());
}

Result<FileDescriptor> open_checked(const fs::path& asked, const std::string& path,
                                    struct stat& status) {
  constexpr int kFlags =
      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  FileDescriptor file(open(path.c_str(), kFlags, S_IRUSR | S_IWUSR));
  if (!file || fstat(file.get(), &status) != 0) return cannot_log(asked, system_message(errno));
  if (!S_ISREG(status.st_mode)) return cannot_log(asked, "it is not a regular file");
  if (!is_trusted_owner(status.st_uid)) return cannot_log(asked, "it belongs to another user");
  if ((status.st_mode & kOthersMayWrite) != 0) {
    return cannot_log(asked, "it is writable by other users");
  }
  if (status.st_nlink > 1) return cannot_log(asked, "it has a second name");
  return file;
}

// Renames the file while holding its lock, and only if the path still names the opened file. A
// process does not wait for the lock, because its holder is renaming the file.
void rotate(const FileDescriptor& file, const std::string& path, const struct stat& opened) {
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  struct stat named = {};
  if (lstat(path.c_str(), &named) != 0) return;
  if (named.st_dev != opened.st_dev || named.st_ino != opened.st_ino) return;
  rename(path.c_str(), (path + ".1").c_str());
}

}  // namespace

Result<FileDescriptor> open_log_file(const fs::path& path) {
  const std::string folder = TRY(safe_folder(path));
  const std::string file_path = folder + "/" + path.filename().native();
  struct stat status = {};
  FileDescriptor file = TRY(open_checked(path, file_path, status));
  if (status.st_size < static_cast<off_t>(kMaxLogFile)) return file;
  rotate(file, file_path, status);
  return open_checked(path, file_path, status);
}

}  // namespace execcred

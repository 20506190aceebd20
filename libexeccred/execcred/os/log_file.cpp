// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/log_file.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file_walk.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

namespace execcred {
namespace {

namespace fs = std::filesystem;

Error cannot_log(const fs::path& path, const std::string& why) {
  return Error::configuration("cannot log to " + in_quotes(path.native()) + ": " + why);
}

Result<std::string> safe_folder(const fs::path& path) {
  std::error_code problem;
  fs::path folder = path.parent_path();
  if (folder.is_relative()) folder = fs::current_path(problem) / folder;
  if (problem) return cannot_log(path, problem.message());
  FolderWay way = check_way_to_folder(folder.lexically_normal().native());
  if (way.error_number != 0) return cannot_log(path, system_message(way.error_number));
  if (!way.why.empty()) return cannot_log(path, in_quotes(way.at) + " " + way.why);
  return std::move(way.folder);
}

Result<FileDescriptor> open_checked(const fs::path& asked, const std::string& path,
                                    struct stat& status) {
  constexpr int kFlags =
      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  FileDescriptor file(open(path.c_str(), kFlags, S_IRUSR | S_IWUSR));
  if (!file || fstat(file.get(), &status) != 0) return cannot_log(asked, system_message(errno));
  if (!S_ISREG(status.st_mode)) return cannot_log(asked, "it is not a regular file");
  if (const std::string why = distrust(status); !why.empty()) return cannot_log(asked, "it " + why);
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

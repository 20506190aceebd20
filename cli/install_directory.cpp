// SPDX-License-Identifier: Apache-2.0
#include "install_directory.hpp"

#include "install_files.hpp"

#include <execcred/base/text.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file_write.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace execcred::cli {
namespace {

namespace fs = std::filesystem;

std::string hint_for(int error_number) {
  if (error_number == ENOENT) return "create it first (mkdir), or mount an emptyDir volume there";
  if (error_number == ENOTDIR) return "name a directory";
  return "let user " + std::to_string(geteuid()) + " read and write there";
}

// Takes the directory's lock, which the kernel releases when its holder ends for any reason.
// Returns false if the file system has no locks.
bool lock(int directory) {
  while (flock(directory, LOCK_EX) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

bool is_unfinished(const std::string& name) {
  const std::size_t end = name.rfind('.');
  if (end == std::string::npos || end == 0) return false;
  const std::string target = name.substr(1, end - 1);
  return is_plugin_name(target) && NewFile::is_name(name, target);
}

// Called only with the lock: an unfinished file of a running copy looks the same.
void remove_unfinished(const fs::path& directory) {
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().native();
    if (is_unfinished(name)) unlink(entry->path().c_str());
  }
}

}  // namespace

Result<InstallDirectory> InstallDirectory::open(const fs::path& path) {
  FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) {
    const int why = errno;
    return Error{.kind = Error::Kind::configuration,
                 .message = "cannot open the directory " + in_quotes(path.native()) + ": " +
                            system_message(why),
                 .hint = hint_for(why)};
  }
  deadline::enter_phase("waiting for another execcred install");
  if (lock(descriptor.get())) remove_unfinished(path);
  deadline::enter_phase("copying the plugins");
  return InstallDirectory(path, std::move(descriptor));
}

Status InstallDirectory::check_is_not(const fs::path& source) const {
  struct stat here = {};
  struct stat there = {};
  if (fstat(descriptor_.get(), &here) != 0 || stat(source.c_str(), &there) != 0) return {};
  if (here.st_dev != there.st_dev || here.st_ino != there.st_ino) return {};
  return Error{
      .kind = Error::Kind::configuration,
      .message = in_quotes(path_.native()) + " is the directory that the plugins are copied from",
      .hint = "name another directory, or run them from there"};
}

}  // namespace execcred::cli

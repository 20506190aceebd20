// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/file_write.hpp>

#include <execcred/base/assert.hpp>
#include <execcred/base/pause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/signal_block.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

namespace execcred {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, const std::string& why, std::string hint = {}) {
  return Error::configuration("cannot write " + in_quotes(path.native()) + ": " + why,
                              std::move(hint));
}

// The suffix after ".NAME". No other program's file may have such a name, because it would be
// removed.
constexpr std::string_view kNewMark = ".execcred-";
constexpr std::string_view kRandomLetters = "XXXXXX";  // mkostemp's

void sync_directory(const fs::path& target) {
  const fs::path directory = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const FileDescriptor descriptor(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor) fsync(descriptor.get());
}

// Fails (configuration) if `path` exists and may not be replaced.
Status check_target(const fs::path& path, bool& exists) {
  struct stat status = {};
  exists = lstat(path.c_str(), &status) == 0;
  if (!exists) return {};
  if (S_ISLNK(status.st_mode)) {
    return cannot_write(path, "it is a symbolic link", "name the file that the link points to");
  }
  if (!S_ISREG(status.st_mode)) return cannot_write(path, "it is no regular file");
  if ((status.st_mode & S_IWUSR) == 0) return cannot_write(path, "it is read-only");
  return {};
}

// Removes the files that killed processes left for this target.
void remove_unfinished(const fs::path& directory, const std::string& target_name) {
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().native();
    if (NewFile::is_name(name, target_name)) unlink(entry->path().c_str());
  }
}

// All writers hold a shared lock. If no other process holds it, unfinished files are leftovers, and
// are removed. The result is empty if the file system has no locks, or if execcred install holds
// the lock.
FileDescriptor lock_directory(const fs::path& target) {
  const fs::path directory = target.has_parent_path() ? target.parent_path() : fs::path(".");
  FileDescriptor lock(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) return {};
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
    remove_unfinished(directory, target.filename().native());
  }
  constexpr int kAttempts = 50;
  for (int i = 0; i < kAttempts; ++i) {
    if (flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return lock;
    if (errno != EWOULDBLOCK && errno != EINTR) return {};
    pause_for(std::chrono::milliseconds(20));
  }
  return {};
}

}  // namespace

bool write_whole(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(descriptor, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

NewFile::NewFile(const fs::path& target)
    : target_(target),
      path_(((target.has_parent_path() ? target.parent_path() / "" : fs::path()) /
             ("." + target.filename().native() + std::string(kNewMark).append(kRandomLetters)))
                .native()) {}

NewFile::NewFile(NewFile&& other) noexcept
    : lock_(std::move(other.lock_)),
      target_(std::move(other.target_)),
      path_(std::exchange(other.path_, {})),
      file_(std::move(other.file_)) {}

NewFile::~NewFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

Status NewFile::open() {
  struct stat status = {};
  const bool may_be_replaced = stat(target_.c_str(), &status) != 0 || S_ISREG(status.st_mode);
  if (may_be_replaced) file_ = FileDescriptor(mkostemp(path_.data(), O_CLOEXEC));
  if (file_) return {};
  path_.clear();
  return cannot_write(target_, may_be_replaced ? system_message(errno) : "it is no regular file");
}

Result<NewFile> NewFile::create(const fs::path& target) {
  NewFile created(target);
  created.lock_ = lock_directory(target);
  TRY(created.open());
  return created;
}

Result<NewFile> NewFile::write(const fs::path& target, std::string_view content, mode_t mode) {
  NewFile created(target);
  TRY(created.open());
  TRY(created.fill(content, mode));
  return created;
}

Status NewFile::fill(std::string_view content, mode_t mode) {
  // Closed at the end of the function, because a program that is open for writing cannot be
  // executed.
  const FileDescriptor file = std::move(file_);
  if (write_whole(file.get(), content) && fchmod(file.get(), mode) == 0 && fsync(file.get()) == 0) {
    return {};
  }
  return cannot_write(target_, system_message(errno));
}

Status NewFile::take_place() {
  EXECCRED_ASSERT(!path_.empty());  // once, and not after a move
  if (std::rename(path_.c_str(), target_.c_str()) != 0) {
    return cannot_write(target_, system_message(errno));
  }
  path_.clear();
  sync_directory(target_);
  return {};
}

bool NewFile::is_name(std::string_view name, std::string_view target_name) {
  const std::string before = "." + std::string(target_name).append(kNewMark);
  if (!name.starts_with(before)) return false;
  name.remove_prefix(before.size());
  return name.size() == kRandomLetters.size() &&
         std::all_of(name.begin(), name.end(), is_alphanumeric);
}

Status check_replaceable(const fs::path& path) {
  bool exists = false;
  return check_target(path, exists);
}

Result<Written> replace_file(const fs::path& path, std::string_view content) {
  bool exists = false;
  TRY(check_target(path, exists));
  if (exists) {
    const Result<std::string> current = read_untrusted_file(path, content.size());
    if (current && *current == content) return Written::unchanged;
  }
  const SignalBlock held(SignalBlock::Signals::ending);
  NewFile file = TRY(NewFile::create(path));
  TRY(file.fill(content, S_IRUSR | S_IWUSR));
  TRY(file.take_place());
  return Written::replaced;
}

}  // namespace execcred

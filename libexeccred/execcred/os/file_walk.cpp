// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/file_walk.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

namespace execcred {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxSymlinks = 16;
constexpr std::size_t kMaxTarget = 1024;

bool is_trusted_owner(uid_t owner) { return owner == 0 || owner == geteuid(); }
bool is_writable_by_others(mode_t mode) { return (mode & (S_IWGRP | S_IWOTH)) != 0; }

// Errors about a shortage or fault of the machine that may pass, and not about the file.
bool may_pass(int error_number) {
  return error_number == EAGAIN || error_number == EINTR || error_number == EIO ||
         error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM ||
         error_number == ENOSPC || error_number == ESTALE || error_number == ETIMEDOUT;
}

Error leaves_its_directory(const fs::path& path) {
  Error error = cannot_read(path, "it is a symbolic link that leaves its directory");
  error.hint = "name the file that the link points to";
  return error;
}

// Checks the folders as they are named. Stops at a symbolic link, of which only the owner counts.
void check_folders(FolderWay& way, bool& has_link) {
  for (std::size_t end = way.folder.find('/', 1);; end = way.folder.find('/', end + 1)) {
    way.at = way.folder.substr(0, end);
    struct stat status = {};
    if (lstat(way.at.c_str(), &status) != 0) {
      way.error_number = errno;
      return;
    }
    way.why = distrust(status);
    has_link = S_ISLNK(status.st_mode);
    if (!way.why.empty() || has_link || end == std::string::npos) return;
  }
}

}  // namespace

std::string distrust(const struct stat& status) {
  if (!is_trusted_owner(status.st_uid)) {
    return "belongs to user " + std::to_string(status.st_uid) + ", not to root or user " +
           std::to_string(geteuid());
  }
  // To connect to a socket, write permission is needed. No other file comes of it.
  const bool has_no_content = S_ISLNK(status.st_mode) || S_ISSOCK(status.st_mode);
  if (has_no_content || !is_writable_by_others(status.st_mode)) return {};
  const bool is_sticky_of_root =
      S_ISDIR(status.st_mode) && status.st_uid == 0 && (status.st_mode & S_ISVTX) != 0;
  return is_sticky_of_root ? std::string() : "is writable by other users";
}

FolderWay check_way_to_folder(std::string folder) {
  FolderWay way = {.folder = std::move(folder)};
  bool has_link = false;
  check_folders(way, has_link);
  if (!has_link || !way.why.empty()) return way;
  const std::unique_ptr<char, void (*)(void*)> real(realpath(way.folder.c_str(), nullptr),
                                                    std::free);
  if (!real) return {.folder = way.folder, .error_number = errno};
  way = {.folder = real.get()};
  has_link = false;
  check_folders(way, has_link);
  if (has_link && way.why.empty()) way.why = "is a symbolic link that changes";
  return way;
}

Error cannot_read(const fs::path& path, const std::string& why) {
  return Error::configuration("cannot read " + in_quotes(path.native()) + ": " + why);
}

Error cannot_read(const fs::path& path, int error_number) {
  Error error = cannot_read(path, system_message(error_number));
  if (may_pass(error_number)) {
    error.kind = Error::Kind::unavailable;
    error.is_local = true;
  }
  if (error_number == ENOENT || error_number == ENOTDIR) error.cause = cause::kSourceMissing;
  if (error_number == EACCES || error_number == EPERM) error.cause = cause::kSourceForbidden;
  return error;
}

std::string_view file_kind_name(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a named pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "a special file";
  }
}

Status Walk::start() {
  fs::path path = asked_;
  if (path.is_relative()) {
    std::error_code problem;
    path = fs::current_path(problem) / path;
    if (problem) return cannot_read(asked_, problem.message());
  }
  for (const fs::path& name : path.relative_path()) {
    // After a trailing slash, the last name is empty. It means the directory before it.
    if (name != ".") names_.push_back(name.empty() ? "." : name.native());
  }
  go_to_root();
  return {};
}

void Walk::go_to_root() {
  held_.reset();
  below_ = "/";
  here_ = "/";
  is_shared_ = false;
}

int Walk::base() const { return held_ ? held_.get() : AT_FDCWD; }

std::string Walk::path_of(const std::string& name) const { return below_ + name; }

Status Walk::check(const struct stat& status, const std::string& name) {
  const std::string why = distrust(status);
  if (why.empty()) return {};
  is_distrusted_ = true;
  const fs::path at = here_ / name;
  Error error =
      cannot_read(asked_, at == asked_ ? "it " + why : in_quotes(at.native()) + " " + why);
  error.hint = "let root or this user own it, and remove the write permission of group and others";
  error.cause = cause::kSourceForbidden;
  return error;
}

bool Walk::look_at(const std::string& name, Entry& entry) const {
  const std::string path = path_of(name);
  if (!is_shared_) {
    return fstatat(base(), path.c_str(), &entry.status, AT_SYMLINK_NOFOLLOW) == 0;
  }
  // The owner of an entry may remove it, and another file may then get its name.
  entry.held.reset(openat(base(), path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  return entry.held && fstat(entry.held.get(), &entry.status) == 0;
}

Result<Walk::Step> Walk::follow(const std::string& name, const Entry& entry, bool is_last) {
  TRY(check(entry.status, name));
  if (++symlinks_ > kMaxSymlinks) return cannot_read(asked_, "too many symbolic links");
  std::array<char, kMaxTarget> target;
  const int from = entry.held ? entry.held.get() : base();
  const std::string path = entry.held ? std::string() : path_of(name);
  const ssize_t size = readlinkat(from, path.c_str(), target.data(), target.size());
  if (size < 0) return Step::swapped;
  if (static_cast<std::size_t>(size) == target.size()) {
    return cannot_read(asked_, "a symbolic link on the way is too long");
  }
  const fs::path to(std::string_view(target.data(), static_cast<std::size_t>(size)));
  names_.pop_front();
  is_confined_ = is_confined_ || (is_last && kind_ == S_IFREG);
  if (is_confined_ && to.is_absolute()) return leaves_its_directory(asked_);
  std::deque<std::string> expanded;
  for (const fs::path& part : to.relative_path()) {
    if (part != "." && !part.empty()) expanded.push_back(part.native());
  }
  names_.insert(names_.begin(), expanded.begin(), expanded.end());
  if (to.is_absolute()) go_to_root();
  return Step::walked;
}

Result<Walk::Step> Walk::enter(const std::string& name, Entry entry) {
  if (entry.held) {
    held_ = std::move(entry.held);
    below_.clear();
  } else {
    below_ += name;
    below_ += '/';
  }
  is_shared_ = is_writable_by_others(entry.status.st_mode);
  here_ /= name;
  if (is_confined_) depth_ = name == ".." ? depth_ - 1 : depth_ + 1;
  names_.pop_front();
  return Step::walked;
}

Result<Walk::Step> Walk::open_regular(const std::string& name, OpenFile& file) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file.descriptor.reset(openat(base(), path_of(name).c_str(), kFlags));
  if (!file.descriptor) {
    if (errno == ENOENT || errno == ELOOP) return Step::swapped;
    return cannot_read(asked_, errno);
  }
  if (fstat(file.descriptor.get(), &file.status) != 0) {
    return cannot_read(asked_, errno);
  }
  if (!S_ISREG(file.status.st_mode)) return Step::swapped;
  TRY(check(file.status, name));
  return Step::opened;
}

Result<Walk::Step> Walk::step(OpenFile& file) {
  const std::string name = names_.front();
  const bool is_last = names_.size() == 1;
  if (name == ".." && is_confined_ && depth_ == 0) return leaves_its_directory(asked_);
  Entry entry;
  if (!look_at(name, entry)) {
    is_absent_ = errno == ENOENT && is_last && !is_confined_;
    if (errno == ENOENT && (is_absent_ || symlinks_ > 0)) return Step::swapped;
    return cannot_read(asked_, errno);
  }
  const mode_t mode = entry.status.st_mode;
  if (S_ISLNK(mode)) return follow(name, entry, is_last);
  if (is_last && (mode & S_IFMT) != kind_) {
    return cannot_read(asked_, "it is " + std::string(file_kind_name(mode)) + ", not " +
                                   std::string(file_kind_name(kind_)));
  }
  if (!is_last && !S_ISDIR(mode)) return cannot_read(asked_, ENOTDIR);
  TRY(check(entry.status, name));
  if (is_last) return S_ISREG(mode) ? open_regular(name, file) : Step::opened;
  return enter(name, std::move(entry));
}

Result<std::optional<OpenFile>> Walk::open_file() {
  TRY(start());
  while (!names_.empty()) {
    OpenFile file;
    const Step step = TRY(this->step(file));
    if (step == Step::swapped) return std::optional<OpenFile>();
    if (step == Step::opened) return std::optional(std::move(file));
  }
  return cannot_read(asked_, "it is a directory, not a regular file");
}

Status check_way_to_socket(const fs::path& path) {
  Walk walk(path, S_IFSOCK);
  Result<std::optional<OpenFile>> reached = walk.open_file();
  if (walk.is_distrusted()) return std::move(reached).error();
  return {};
}

}  // namespace execcred

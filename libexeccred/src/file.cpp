// SPDX-License-Identifier: Apache-2.0
#include <execcred/file.hpp>
#include <execcred/text.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <deque>
#include <optional>
#include <utility>

namespace execcred {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxSymlinks = 16;
constexpr int kMaxAttempts = 8;
constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 10'000'000};

Error cannot_read(const fs::path& path, const std::string& why) {
  return Error{.kind = Error::Kind::configuration,
               .message = "cannot read " + in_quotes(path.native()) + ": " + why};
}

std::string_view kind_name(mode_t mode) {
  switch (mode & S_IFMT) {
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

bool is_trusted_owner(uid_t owner) { return owner == 0 || owner == geteuid(); }
bool is_writable_by_others(mode_t mode) { return (mode & (S_IWGRP | S_IWOTH)) != 0; }

// Why what `status` describes could have been made or changed by another user; empty if not.
std::string distrust(const struct stat& status) {
  if (!is_trusted_owner(status.st_uid)) {
    return "belongs to user " + std::to_string(status.st_uid) + ", not to root or user " +
           std::to_string(geteuid());
  }
  if (S_ISLNK(status.st_mode) || !is_writable_by_others(status.st_mode)) return {};
  const bool is_sticky_of_root =
      S_ISDIR(status.st_mode) && status.st_uid == 0 && (status.st_mode & S_ISVTX) != 0;
  return is_sticky_of_root ? std::string() : "is writable by other users";
}

struct Entry {
  FileDescriptor held;  // where it must not become another
  struct stat status = {};
};

struct OpenFile {
  FileDescriptor descriptor;
  struct stat status = {};
};

Error leaves_its_directory(const fs::path& path) {
  Error error = cannot_read(path, "it is a symbolic link that leaves its directory");
  error.hint = "name the file that the link points to";
  return error;
}

// One walk from the root to the file. See file.hpp for the rules.
class Walk {
 public:
  explicit Walk(fs::path path) : asked_(std::move(path)) {}

  // nullopt: swapped on the way, start again.
  Result<std::optional<OpenFile>> open_file();

 private:
  // What one step came to. A name that is gone, or is another kind of thing, since it was looked
  // at means that the volume was swapped.
  enum class Step { walked, opened, swapped };

  Status start();
  Result<Step> step(OpenFile& file);
  bool look_at(const std::string& name, Entry& entry) const;
  Result<Step> follow(const std::string& name, const Entry& entry, bool is_last);
  Result<Step> enter(const std::string& name, Entry entry);
  Result<Step> open_regular(const std::string& name, OpenFile& file) const;
  Status check(const struct stat& status, const std::string& name) const;

  fs::path asked_;
  fs::path here_ = "/";  // the directory that is open, for messages
  FileDescriptor directory_;
  bool is_shared_ = false;         // it is sticky, and others may put entries into it
  std::deque<std::string> names_;  // still to be walked
  int symlinks_ = 0;
  bool is_confined_ = false;  // a symlink of the last name was followed
  std::size_t depth_ = 0;     // below the directory that confines
};

Status Walk::start() {
  fs::path path = asked_;
  if (path.is_relative()) {
    std::error_code problem;
    path = fs::current_path(problem) / path;
    if (problem) return cannot_read(asked_, problem.message());
  }
  for (const fs::path& name : path.relative_path()) {
    // A trailing slash gives an empty last name: it asks for a directory.
    if (name != ".") names_.push_back(name.native());
  }
  if (names_.empty() || names_.back().empty()) return cannot_read(asked_, "is a directory");
  directory_.reset(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory_) return cannot_read(asked_, system_message(errno));
  return {};
}

Status Walk::check(const struct stat& status, const std::string& name) const {
  const std::string why = distrust(status);
  if (why.empty()) return {};
  const fs::path at = here_ / name;
  Error error =
      cannot_read(asked_, at == asked_ ? "it " + why : in_quotes(at.native()) + " " + why);
  error.hint = "let root or this user own it, and take write permission from group and others";
  return error;
}

// In a directory that only trusted users change, an entry stays what it was when it was looked at.
// In a shared one, another may take the name of an entry that its owner removes: there the entry
// itself is held.
bool Walk::look_at(const std::string& name, Entry& entry) const {
  if (!is_shared_) {
    return fstatat(directory_.get(), name.c_str(), &entry.status, AT_SYMLINK_NOFOLLOW) == 0;
  }
  entry.held.reset(openat(directory_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  return entry.held && fstat(entry.held.get(), &entry.status) == 0;
}

Result<Walk::Step> Walk::follow(const std::string& name, const Entry& entry, bool is_last) {
  TRY(check(entry.status, name));
  if (++symlinks_ > kMaxSymlinks) return cannot_read(asked_, "too many symbolic links");
  std::array<char, 4096> target = {};
  const int from = entry.held ? entry.held.get() : directory_.get();
  const ssize_t size =
      readlinkat(from, entry.held ? "" : name.c_str(), target.data(), target.size());
  if (size < 0) return Step::swapped;
  const fs::path to(std::string_view(target.data(), static_cast<std::size_t>(size)));
  names_.pop_front();
  is_confined_ = is_confined_ || is_last;
  if (is_confined_ && to.is_absolute()) return leaves_its_directory(asked_);
  std::deque<std::string> expanded;
  for (const fs::path& part : to.relative_path()) {
    if (part != "." && !part.empty()) expanded.push_back(part.native());
  }
  names_.insert(names_.begin(), expanded.begin(), expanded.end());
  if (to.is_absolute()) {
    directory_.reset(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    is_shared_ = false;
    here_ = "/";
  }
  return Step::walked;
}

Result<Walk::Step> Walk::enter(const std::string& name, Entry entry) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  if (!entry.held) entry.held.reset(openat(directory_.get(), name.c_str(), kFlags));
  if (!entry.held) return Step::swapped;
  directory_ = std::move(entry.held);
  is_shared_ = is_writable_by_others(entry.status.st_mode);
  here_ /= name;
  if (is_confined_) depth_ = name == ".." ? depth_ - 1 : depth_ + 1;
  names_.pop_front();
  return Step::walked;
}

Result<Walk::Step> Walk::open_regular(const std::string& name, OpenFile& file) const {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file.descriptor.reset(openat(directory_.get(), name.c_str(), kFlags));
  if (!file.descriptor) {
    if (errno == ENOENT || errno == ELOOP) return Step::swapped;
    return cannot_read(asked_, system_message(errno));
  }
  if (fstat(file.descriptor.get(), &file.status) != 0) {
    return cannot_read(asked_, system_message(errno));
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
    if (errno == ENOENT && symlinks_ > 0) return Step::swapped;
    return cannot_read(asked_, system_message(errno));
  }
  const mode_t mode = entry.status.st_mode;
  if (S_ISLNK(mode)) return follow(name, entry, is_last);
  if (is_last && !S_ISREG(mode)) {
    return cannot_read(asked_, "it is " + std::string(kind_name(mode)) + ", not a regular file");
  }
  if (!is_last && !S_ISDIR(mode)) return cannot_read(asked_, system_message(ENOTDIR));
  TRY(check(entry.status, name));
  if (is_last) return open_regular(name, file);
  return enter(name, std::move(entry));
}

Result<std::optional<OpenFile>> Walk::open_file() {
  TRY(start());
  while (!names_.empty()) {
    OpenFile file;
    TRY_ASSIGN(const Step step, this->step(file));
    if (step == Step::swapped) return std::optional<OpenFile>();
    if (step == Step::opened) return std::optional(std::move(file));
  }
  return cannot_read(asked_, "it is a directory, not a regular file");
}

bool is_same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// A file that was removed or replaced meanwhile has another ctime and the same content.
bool is_unchanged(const struct stat& before, const struct stat& after) {
  return before.st_size == after.st_size && is_same_time(before.st_mtim, after.st_mtim) &&
         (is_same_time(before.st_ctim, after.st_ctim) || after.st_nlink < before.st_nlink);
}

Error too_large(const fs::path& path, std::size_t max_bytes) {
  return cannot_read(path, "it is larger than " + std::to_string(max_bytes / 1024) + " KiB");
}

// nullopt: the file changed while it was read.
Result<std::optional<SecretString>> read_whole(const OpenFile& file, const fs::path& path,
                                               std::size_t max_bytes) {
  const int descriptor = file.descriptor.get();
  const auto size = static_cast<std::size_t>(file.status.st_size);
  if (size > max_bytes) return too_large(path, max_bytes);
  SecretString content;
  for (;;) {
    const std::size_t room = content.size() < size ? size - content.size() + 1 : 512;
    const ssize_t count = read(descriptor, content.reserve(room), room);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(path, system_message(errno));
    content.grow(static_cast<std::size_t>(count));
    if (content.size() > max_bytes) return too_large(path, max_bytes);
    if (static_cast<std::size_t>(count) < room) break;  // a regular file's end
  }
  struct stat after = {};
  if (fstat(descriptor, &after) != 0) return cannot_read(path, system_message(errno));
  // Files of /proc and /sys have no size of their own.
  if (!is_unchanged(file.status, after) || (size > 0 && content.size() != size)) {
    return std::optional<SecretString>();
  }
  return std::optional(std::move(content));
}

}  // namespace

void FileDescriptor::reset(int descriptor) {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = descriptor;
}

Result<SecretString> read_secret_file(const fs::path& path, std::size_t max_bytes) {
  if (path.empty()) return cannot_read(path, "the path is empty");
  bool is_missing = false;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (attempt > 0) nanosleep(&kPause, nullptr);
    TRY_ASSIGN(const std::optional<OpenFile> file, Walk(path).open_file());
    is_missing = !file.has_value();
    if (is_missing) continue;
    TRY_ASSIGN(std::optional<SecretString> content, read_whole(*file, path, max_bytes));
    if (content) return *std::move(content);
  }
  if (is_missing) return cannot_read(path, system_message(ENOENT));
  return Error{.kind = Error::Kind::unavailable,
               .message = "cannot read " + in_quotes(path.native()) + ": it keeps changing",
               .hint = "replace the file by rename instead of writing into it"};
}

Result<std::string> read_file(const fs::path& path, std::size_t max_bytes) {
  TRY_ASSIGN(const SecretString content, read_secret_file(path, max_bytes));
  return std::string(content.reveal());
}

Result<std::string> read_untrusted_file(const fs::path& path, std::size_t max_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0) return cannot_read(path, system_message(errno));
  if (!S_ISREG(status.st_mode)) {
    return cannot_read(path,
                       "it is " + std::string(kind_name(status.st_mode)) + ", not a regular file");
  }
  if (static_cast<std::size_t>(status.st_size) > max_bytes) return too_large(path, max_bytes);
  return read_stream(file.get(), max_bytes, in_quotes(path.native()));
}

Result<std::string> read_stream(int descriptor, std::size_t max_bytes, const std::string& name) {
  std::string content;
  std::array<char, 16 * 1024> buffer = {};
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Error{.kind = Error::Kind::configuration,
                   .message = "cannot read " + name + ": " + system_message(errno)};
    }
    if (count == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > max_bytes) {
      return Error{
          .kind = Error::Kind::configuration,
          .message = name + " is larger than " + std::to_string(max_bytes / 1024) + " KiB"};
    }
  }
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/file.hpp>

#include <execcred/base/pause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file_walk.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

namespace execcred {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxAttempts = 8;
constexpr std::chrono::milliseconds kPause(10);

bool is_same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// A file that was removed or replaced during the read has a new ctime and unchanged content.
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
    if (count < 0) return cannot_read(path, errno);
    content.grow(static_cast<std::size_t>(count));
    if (content.size() > max_bytes) return too_large(path, max_bytes);
    // This is the end of the file. Before it, a file system may return fewer bytes than requested.
    if (count == 0 || content.size() == size) break;
  }
  struct stat after = {};
  if (fstat(descriptor, &after) != 0) return cannot_read(path, errno);
  // Files of /proc have no size of their own.
  if (!is_unchanged(file.status, after) || (size > 0 && content.size() != size)) {
    return std::optional<SecretString>();
  }
  return std::optional(std::move(content));
}

using Contents = std::vector<std::optional<SecretString>>;

Result<Contents> read_names(const fs::path& directory, const std::vector<std::string>& names,
                            std::size_t max_bytes) {
  Contents contents;
  for (const std::string& name : names) {
    std::optional<SecretString> content =
        TRY(read_secret_file_if_there(directory / name, max_bytes));
    contents.push_back(std::move(content));
  }
  return contents;
}

bool is_whole(const Contents& contents) {
  return std::all_of(contents.begin(), contents.end(),
                     [](const auto& content) { return content.has_value(); });
}

}  // namespace

void FileDescriptor::reset(int descriptor) {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = descriptor;
}

Result<std::optional<SecretString>> read_secret_file_if_there(const fs::path& path,
                                                              std::size_t max_bytes) {
  if (path.empty()) return cannot_read(path, "the path is empty");
  bool is_missing = false;
  fs::path absent_from;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    Walk walk(path);
    const std::optional<OpenFile> file = TRY(walk.open_file());
    if (walk.is_absent()) {
      // The directory behind a symlink may have been replaced and then emptied: the next walk ends
      // in another one.
      if (!walk.followed_symlinks() || walk.reached() == absent_from) {
        return std::optional<SecretString>();
      }
      absent_from = walk.reached();
      continue;
    }
    is_missing = !file.has_value();
    if (!is_missing) {
      std::optional<SecretString> content = TRY(read_whole(*file, path, max_bytes));
      if (content) return content;
    }
    pause_for(kPause);
  }
  if (is_missing) return cannot_read(path, ENOENT);
  return Error::unavailable("cannot read " + in_quotes(path.native()) + ": it keeps changing",
                            "replace the file by rename instead of writing into it");
}

Result<SecretString> read_secret_file(const fs::path& path, std::size_t max_bytes) {
  std::optional<SecretString> content = TRY(read_secret_file_if_there(path, max_bytes));
  if (content) return *std::move(content);
  return cannot_read(path, ENOENT);
}

// The kubelet writes a new directory and then swaps the symlink `..data`. So files that are read
// through the directory that the symlink names belong together.
Result<std::vector<std::optional<SecretString>>> read_secret_directory(
    const fs::path& directory, const std::vector<std::string>& names, std::size_t max_bytes) {
  const fs::path link = directory / "..data";
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (attempt > 0) pause_for(kPause);
    std::error_code none;
    const fs::path target = fs::read_symlink(link, none);
    if (target.has_parent_path() || target == "..") {
      return cannot_read(link, "it is a symbolic link that leaves its directory");
    }
    Result<Contents> contents = read_names(directory / target, names, max_bytes);
    if (contents && is_whole(*contents)) return contents;
    if (fs::read_symlink(link, none) == target) return contents;
  }
  return Error::unavailable("cannot read " + in_quotes(directory.native()) + ": it keeps changing");
}

Result<std::string> read_file(const fs::path& path, std::size_t max_bytes) {
  const Result<SecretString> content = read_secret_file(path, max_bytes);
  if (content) return std::string(content->reveal());
  Error error = content.error();
  error.cause = {};  // it is part of the settings, and not a source of credentials
  return error;
}

Result<std::string> read_untrusted_file(const fs::path& path, std::size_t max_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0) return cannot_read(path, errno);
  if (!S_ISREG(status.st_mode)) {
    return cannot_read(
        path, "it is " + std::string(file_kind_name(status.st_mode)) + ", not a regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > max_bytes) return too_large(path, max_bytes);
  std::string content = TRY(read_stream(file.get(), max_bytes, in_quotes(path.native()), size));
  if (content.size() >= size) return content;
  Error error = cannot_read(path, "it ended after " + std::to_string(content.size()) + " of " +
                                      std::to_string(size) + " bytes");
  error.kind = Error::Kind::unavailable;
  return error;
}

Result<std::string> read_stream(int descriptor, std::size_t max_bytes, const std::string& name,
                                std::size_t expected) {
  std::string content;
  content.reserve(expected);
  std::array<char, 16 * 1024> buffer = {};
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Error::configuration("cannot read " + name + ": " + system_message(errno));
    }
    if (count == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > max_bytes) {
      return Error::configuration(name + " is larger than " + std::to_string(max_bytes / 1024) +
                                  " KiB");
    }
  }
}

}  // namespace execcred

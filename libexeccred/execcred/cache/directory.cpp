// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/directory.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/os/file_write.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>

namespace execcred {
namespace {

constexpr int kFileFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

Error cannot_write(const std::string& name) {
  return Error::unavailable("cannot write the cache's file " + name + ": " + system_message(errno));
}

// The names of all files that the cache writes. '#' is a number of 16 hexadecimal digits.
constexpr std::array<std::string_view, 10> kForms = {
    "##.credential", "##.failure",  "##.discovery", "##.refresh",    "##.request",
    "##.lock",       "##.#.#.seen", "##.#.new",     "tidy.position", "tidy.#.new"};

bool has_form(std::string_view name, std::string_view form) {
  for (const char c : form) {
    const std::string_view part = name.substr(0, c == '#' ? 16 : 1);
    const bool is_number =
        part.size() == 16 && part.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (c == '#' ? !is_number : part != std::string_view(&c, 1)) return false;
    name.remove_prefix(part.size());
  }
  return name.empty();
}

// Other programs may have files of the same endings in the directory.
bool is_cache_file(std::string_view name) {
  return std::any_of(kForms.begin(), kForms.end(),
                     [name](std::string_view form) { return has_form(name, form); });
}

// A name for a new file that no other process uses, in this or another pid namespace.
std::string new_name(const std::string& name) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    number = static_cast<std::uint64_t>(now) ^ (static_cast<std::uint64_t>(getpid()) << 40U);
  }
  return name.substr(0, name.find('.')) + "." + hex_digits(number) + ".new";
}

bool set_time(int descriptor, TimePoint time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const timespec value = {.tv_sec = static_cast<time_t>(whole.time_since_epoch().count()),
                          .tv_nsec = static_cast<long>((time - whole).count())};
  const std::array<timespec, 2> times = {value, value};
  return futimens(descriptor, times.data()) == 0;
}

bool is_ours(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0 && status.st_nlink == 1;
}

// A rename cannot replace a directory. An empty directory in the file's place is removed first,
// because execcred did not create it.
bool rename_over(int directory, const std::string& from, const std::string& to) {
  if (renameat(directory, from.c_str(), directory, to.c_str()) == 0) return true;
  if (errno != EISDIR && errno != ENOTEMPTY && errno != EEXIST) return false;
  return unlinkat(directory, to.c_str(), AT_REMOVEDIR) == 0 &&
         renameat(directory, from.c_str(), directory, to.c_str()) == 0;
}

}  // namespace

std::optional<SecretString> CacheDirectory::read(const std::string& name,
                                                 std::size_t max_bytes) const {
  const FileDescriptor file(openat(descriptor(), name.c_str(), O_RDONLY | kFileFlags));
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0 || !is_ours(status)) return std::nullopt;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > max_bytes) return std::nullopt;
  SecretString content;
  char* room = content.reserve(size + 1);
  while (content.size() < size) {
    const ssize_t count = ::read(file.get(), room + content.size(), size - content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    content.grow(static_cast<std::size_t>(count));
  }
  return content;
}

bool CacheDirectory::is_in_memory() const {
  constexpr unsigned long kTmpfs = 0x01021994;
  constexpr unsigned long kRamfs = 0x858458f6;
  struct statfs status = {};
  if (fstatfs(descriptor(), &status) != 0) return false;
  const auto type = static_cast<unsigned long>(status.f_type) & 0xffffffffU;
  return type == kTmpfs || type == kRamfs;
}

Status CacheDirectory::write(const std::string& name, std::string_view content,
                             TimePoint ends_at) const {
  const std::string made = new_name(name);
  const FileDescriptor file(
      openat(descriptor(), made.c_str(), O_WRONLY | O_CREAT | O_EXCL | kFileFlags, 0600));
  if (!file) return cannot_write(name);
  const bool is_synced = !is_in_memory();
  const bool is_written = write_whole(file.get(), content) && set_time(file.get(), ends_at) &&
                          (!is_synced || fsync(file.get()) == 0) &&
                          rename_over(descriptor(), made, name);
  if (!is_written) {
    const Error error = cannot_write(name);
    remove(made);
    return error;
  }
  if (is_synced) fsync(descriptor());
  return {};
}

CacheDirectory::Marked CacheDirectory::mark(const std::string& name) const {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | kFileFlags;
  const FileDescriptor file(openat(descriptor(), name.c_str(), kFlags, 0600));
  if (file) return Marked::now;
  return errno == EEXIST ? Marked::before : Marked::failed;
}

void CacheDirectory::remove(const std::string& name) const {
  unlinkat(descriptor(), name.c_str(), 0);
}

std::vector<std::string> CacheDirectory::names(std::size_t limit, long& position) const {
  std::vector<std::string> names;
  const int copy = openat(descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(fdopendir(copy), closedir);
  if (!directory) {
    close(copy);
    return names;
  }
  const bool starts_behind = position != 0;
  if (starts_behind) seekdir(directory.get(), position);
  bool is_over = !starts_behind;  // when there are no more names
  for (std::size_t count = 0; count < limit;) {
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr && is_over) {
      position = 0;
      return names;
    }
    if (entry == nullptr) {
      rewinddir(directory.get());
      is_over = true;
      continue;
    }
    ++count;
    if (const std::string_view name(entry->d_name); is_cache_file(name)) names.emplace_back(name);
  }
  position = telldir(directory.get());
  return names;
}

}  // namespace execcred

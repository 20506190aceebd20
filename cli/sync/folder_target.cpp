// SPDX-License-Identifier: Apache-2.0
#include "folder_target.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/pause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <set>
#include <utility>

namespace execcred::sync {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarker = ".execcred-sync";
constexpr std::string_view kTemporary = ".execcred-sync.";
constexpr const char* kData = "..data";
constexpr std::string_view kDataLinks = "..data/";
constexpr std::size_t kMaxMarker = 16UL * 1024;
// How long to wait for another run that holds the lock of the namespace's folder.
constexpr Duration kPatience = std::chrono::seconds(5);

bool is_for_lack_of_room(int number) {
  return number == ENOSPC || number == EDQUOT || number == EIO || number == ENOMEM ||
         number == EMFILE || number == ENFILE;
}

std::string hint_of(int number) {
  if (number == ENOSPC || number == EDQUOT) {
    return "free some space there: a renewal writes a second copy of the files";
  }
  return {};
}

Error failed(const std::string& doing, int number) {
  const bool may_pass = is_for_lack_of_room(number);
  return Error{.kind = may_pass ? Error::Kind::unavailable : Error::Kind::configuration,
               .message = "cannot " + doing + ": " + system_message(number),
               .hint = hint_of(number),
               .is_local = true,
               .cause = may_pass ? cause::kTargetUnavailable : cause::kTargetRefused};
}

Error foreign(const std::string& why) {
  return Error{.kind = Error::Kind::no_credential,
               .message = "the folder is not this instance's: " + why,
               .hint = "it stays as it is; remove it, or name another --to-dir",
               .cause = cause::kTargetForeign};
}

std::string random_name(std::string_view before) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    number =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  return std::string(before) + hex_digits(number);
}

// "..2026_07_01_12_00_00.0123456789abcdef", as the kubelet names generations.
std::string generation_name() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  std::array<char, 32> text = {};
  const std::size_t size = std::strftime(text.data(), text.size(), "..%Y_%m_%d_%H_%M_%S.", &parts);
  return random_name({text.data(), size});
}

bool is_generation(std::string_view name) {
  return name.size() > 2 && name.starts_with("..") && is_digit(name[2]) &&
         name.find('/') == std::string_view::npos;
}

// Whether random_name() made this name for a temporary file or folder.
bool is_temporary(std::string_view name) {
  if (!name.starts_with(kTemporary)) return false;
  name.remove_prefix(kTemporary.size());
  return name.size() == 16 && std::all_of(name.begin(), name.end(), is_hex_digit);
}

Result<std::vector<std::string>> list_entries(int directory) {
  const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(copy < 0 ? nullptr : fdopendir(copy), closedir);
  if (!stream) {
    const int why = errno;
    if (copy >= 0) close(copy);
    return failed("list a folder", why);
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* const entry = readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  if (errno != 0) return failed("list a folder", errno);
  return names;
}

// The same, but without entries if they cannot be listed: for work that is repeated anyway.
std::vector<std::string> entries_of(int directory) {
  Result<std::vector<std::string>> names = list_entries(directory);
  return names ? std::move(*names) : std::vector<std::string>();
}

FileDescriptor open_folder(int parent, const std::string& name) {
  return FileDescriptor(
      openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::optional<std::string> link_text(int directory, const std::string& name) {
  std::array<char, PATH_MAX> text = {};
  const ssize_t size = readlinkat(directory, name.c_str(), text.data(), text.size());
  if (size < 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(size));
}

// The content of a regular file of this user; nullopt for any other file.
std::optional<SecretString> read_own_file(int directory, const std::string& name,
                                          std::size_t max_bytes) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const FileDescriptor file(openat(directory, name.c_str(), kFlags));
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0) return std::nullopt;
  const bool is_ours = S_ISREG(status.st_mode) && status.st_uid == geteuid();
  if (!is_ours || status.st_size > static_cast<off_t>(max_bytes)) return std::nullopt;
  const Result<std::string> text = read_stream(file.get(), max_bytes, name);
  if (!text) return std::nullopt;
  return SecretString(*text);
}

std::optional<Mark> marker_of(int folder) {
  const std::optional<SecretString> text = read_own_file(folder, kMarker, kMaxMarker);
  if (!text) return std::nullopt;
  const Result<Mark> mark = parse_marker(text->reveal());
  return mark ? std::optional(*mark) : std::nullopt;
}

// Opens the folder of the newest generation. The descriptor is empty if ..data is not a link to a
// generation.
FileDescriptor open_data(int folder) {
  const std::optional<std::string> generation = link_text(folder, kData);
  if (!generation || !is_generation(*generation)) return {};
  return open_folder(folder, *generation);
}

// Whether each file of the newest generation has its link beside ..data, and each link has its
// file.
bool is_whole(int folder) {
  const FileDescriptor data = open_data(folder);
  if (!data) return false;
  std::vector<std::string> files = entries_of(data.get());
  std::vector<std::string> links = entries_of(folder);
  std::erase_if(links, [folder](const std::string& name) {
    return name.starts_with('.') || link_text(folder, name) != std::string(kDataLinks) + name;
  });
  std::sort(files.begin(), files.end());
  std::sort(links.begin(), links.end());
  return !files.empty() && files == links;
}

bool holds(int folder, const Contents& contents) {
  const FileDescriptor data = open_data(folder);
  if (!data || entries_of(data.get()).size() != contents.size()) return false;
  return std::all_of(contents.begin(), contents.end(), [&](const auto& file) {
    const std::optional<SecretString> there =
        read_own_file(data.get(), file.first, file.second.size());
    return there && there->reveal() == file.second.reveal() &&
           link_text(folder, file.first) == std::string(kDataLinks) + file.first;
  });
}

// Takes the lock of a namespace's folder, which the kernel releases when its holder ends for any
// reason. Fails (unavailable) if another process does not release it in time.
Status lock(int folder) {
  constexpr Duration kPause = std::chrono::milliseconds(20);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (flock(folder, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return {};  // a file system without locks
    if (std::chrono::steady_clock::now() >= end) {
      return Error{.kind = Error::Kind::unavailable,
                   .message = "another process holds the lock of the namespace's folder",
                   .cause = cause::kTargetUnavailable};
    }
    pause_for(kPause);
  }
  return {};
}

// Writes a new file. Its content is on the disk before a name refers to it. Names need no fsync:
// file systems keep their order, and after a power failure a name may refer to the previous
// generation.
Status write_file(int folder, const std::string& name, std::string_view content, mode_t mode,
                  const std::optional<gid_t>& group, const std::string& shown_name) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const FileDescriptor file(openat(folder, name.c_str(), kFlags, 0600));
  if (!file) return failed("write " + shown_name, errno);
  while (!content.empty()) {
    const ssize_t count = write(file.get(), content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("write " + shown_name, errno);
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  const bool is_given = !group || fchown(file.get(), static_cast<uid_t>(-1), *group) == 0;
  if (!is_given) return failed("give " + shown_name + " to --dir-group", errno);
  if (fchmod(file.get(), mode) != 0 || fsync(file.get()) != 0)
    return failed("write " + shown_name, errno);
  return {};
}

// Makes a link, which replaces a file or link of the same name.
Status put_link(int folder, const std::string& to, const std::string& name) {
  const std::string temporary = random_name(kTemporary);
  if (symlinkat(to.c_str(), folder, temporary.c_str()) != 0) return failed("link " + name, errno);
  if (renameat(folder, temporary.c_str(), folder, name.c_str()) == 0) return {};
  const int why = errno;
  unlinkat(folder, temporary.c_str(), 0);
  return failed("link " + name, why);
}

// Writes the marker under a temporary name, for put_marker().
Status write_marker(int folder, const std::string& temporary, const Mark& mark) {
  return write_file(folder, temporary, marker_text(mark), 0600, std::nullopt, kMarker);
}

Status put_marker(int folder, const std::string& temporary) {
  if (renameat(folder, temporary.c_str(), folder, kMarker) == 0) return {};
  return failed("write the marker", errno);
}

// Removes a file, or a folder with its content. Never follows a link.
void remove_tree(int parent, const std::string& name) {
  const FileDescriptor folder = open_folder(parent, name);
  if (!folder) {
    unlinkat(parent, name.c_str(), 0);
    return;
  }
  for (const std::string& entry : entries_of(folder.get())) {
    if (unlinkat(folder.get(), entry.c_str(), 0) != 0) remove_tree(folder.get(), entry);
  }
  unlinkat(parent, name.c_str(), AT_REMOVEDIR);
}

// Removes links to files that the newest generation lacks, all generations except the newest two,
// and leftovers of killed runs.
void tidy(int folder, const Contents& contents, const std::set<std::string>& generations) {
  for (const std::string& name : entries_of(folder)) {
    const bool is_stale_generation = is_generation(name) && generations.count(name) == 0;
    const bool is_left_over = is_temporary(name);
    const bool is_stale_link = contents.find(name) == contents.end() &&
                               link_text(folder, name) == std::string(kDataLinks) + name;
    if (is_stale_generation || is_left_over || is_stale_link) remove_tree(folder, name);
  }
}

// Removes the leftovers of killed runs in a folder: temporary names, and generations except that of
// ..data and the newest one before it, which may still have readers.
void remove_left_over(int folder) {
  const std::string current = link_text(folder, kData).value_or("");
  const std::vector<std::string> names = entries_of(folder);
  std::string before;
  for (const std::string& name : names) {
    if (is_generation(name) && name < current) before = std::max(before, name);
  }
  for (const std::string& name : names) {
    const bool is_unused =
        is_generation(current) && is_generation(name) && name != current && name != before;
    if (is_unused || is_temporary(name)) remove_tree(folder, name);
  }
}

// A system call, because not every C library has a function for it.
int rename_without_replacing(int folder, const std::string& from, const std::string& to) {
  return static_cast<int>(
      syscall(SYS_renameat2, folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE));
}

Status check_folder(const struct stat& status, const std::string& what) {
  const bool is_ours = status.st_uid == geteuid() || status.st_uid == 0;
  if (is_ours && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Error{
      .kind = Error::Kind::configuration,
      .message = what + (is_ours ? " can be written by others than its owner"
                                 : " belongs to another user"),
      .hint = "its owner must be root or this user, and no other user may have write permission",
      .cause = cause::kTargetRefused};
}

}  // namespace

Result<std::unique_ptr<FolderTarget>> FolderTarget::open(FolderSettings settings) {
  std::unique_ptr<FolderTarget> target(new FolderTarget(std::move(settings), 0));
  const FileDescriptor root(
      ::open(target->settings_.root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status = {};
  if (!root || fstat(root.get(), &status) != 0) {
    const int why = errno;
    Error error = failed("open the folder " + in_quotes(target->settings_.root.native()), why);
    error.kind = Error::Kind::configuration;
    error.hint = why == ENOENT ? "create it first (mkdir), or mount a volume there"
                               : "--to-dir names a folder that this user may enter";
    return error;
  }
  TRY(check_folder(status, "the folder " + in_quotes(target->settings_.root.native())));
  target->device_ = status.st_dev;
  return target;
}

mode_t FolderTarget::folder_mode() const {
  return S_IRWXU | ((settings_.file_mode & S_IRGRP) != 0 ? S_IRGRP | S_IXGRP : 0);
}

Result<FileDescriptor> FolderTarget::open_root() const {
  FileDescriptor root(::open(settings_.root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status = {};
  if (!root || fstat(root.get(), &status) != 0) {
    Error error = failed("open the folder " + in_quotes(settings_.root.native()), errno);
    error.kind = Error::Kind::unavailable;
    error.cause = cause::kTargetUnavailable;
    return error;
  }
  TRY(check_folder(status, "the folder " + in_quotes(settings_.root.native())));
  if (status.st_dev == device_) return root;
  return Error{.kind = Error::Kind::unavailable,
               .message = "the folder " + in_quotes(settings_.root.native()) +
                          " is on another file system than at the start",
               .hint = "mount the volume again, or restart execcred sync",
               .cause = cause::kTargetUnavailable};
}

// Sets the group and mode of a new folder, independently of the umask.
Status FolderTarget::adopt(int descriptor, mode_t mode) const {
  const bool is_given =
      !settings_.group || fchown(descriptor, static_cast<uid_t>(-1), *settings_.group) == 0;
  if (!is_given) return failed("give a folder to --dir-group", errno);
  if (fchmod(descriptor, mode) != 0) return failed("make a folder", errno);
  return {};
}

bool FolderTarget::is_adopted(const struct stat& status, mode_t mode) const {
  constexpr mode_t kPermissions = 0777;
  return (status.st_mode & kPermissions) == mode &&
         (!settings_.group || status.st_gid == *settings_.group);
}

// Whether a cluster's folder, its newest generation and the files there have the mode and the group
// of the settings.
bool FolderTarget::is_as_set(int folder) const {
  const FileDescriptor data = open_data(folder);
  struct stat status = {};
  if (fstat(folder, &status) != 0 || !is_adopted(status, folder_mode())) return false;
  if (!data || fstat(data.get(), &status) != 0 || !is_adopted(status, folder_mode())) return false;
  const std::vector<std::string> names = entries_of(data.get());
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return fstatat(data.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           is_adopted(status, settings_.file_mode);
  });
}

// Gives the readers of --dir-group access to a namespace's folder that a killed run, or one with
// other settings, made. Access is only added: another instance may have clusters there too.
Status FolderTarget::open_to_readers(int parent, const struct stat& status) const {
  constexpr mode_t kMode = 07777;
  const mode_t mode = folder_mode();
  const bool is_for_group = (mode & S_IRGRP) != 0;
  const bool has_group = !is_for_group || !settings_.group || status.st_gid == *settings_.group;
  const bool is_open = (status.st_mode & mode) == mode && has_group;
  if (is_open || status.st_uid != geteuid()) return {};
  return adopt(parent, (status.st_mode & kMode) | mode);
}

Result<Held> FolderTarget::place_of(const Mark& mark) {
  return Held{.store = this,
              .place = in_quotes((settings_.root / mark.name_space / mark.name).native()),
              .name_space = mark.name_space,
              .name = mark.name,
              .mark = mark};
}

bool FolderTarget::is_gone(const Held& held) const {
  const fs::path marker = settings_.root / held.name_space / held.name / kMarker;
  struct stat status = {};
  if (lstat(marker.c_str(), &status) != 0) {
    // If the whole folder is missing, it may be unmounted, and its content is not gone.
    return errno == ENOENT && open_root().has_value();
  }
  const FileDescriptor folder = open_folder(AT_FDCWD, marker.parent_path().native());
  if (!folder || is_whole(folder.get())) return false;
  const std::optional<Mark> there = marker_of(folder.get());
  return there && there->is_of(held.mark);
}

bool FolderTarget::is_foreign(const Held& held) const {
  const FileDescriptor parent = open_folder(AT_FDCWD, (settings_.root / held.name_space).native());
  if (!parent) return errno != ENOENT;
  const FileDescriptor folder = open_folder(parent.get(), held.name);
  if (!folder) return errno != ENOENT;
  const std::optional<Mark> there = marker_of(folder.get());
  return !there || !there->is_of(held.mark);
}

Status FolderTarget::write_generation(int folder, const std::string& generation,
                                      const Contents& contents) const {
  if (mkdirat(folder, generation.c_str(), S_IRWXU) != 0) return failed("make a folder", errno);
  const FileDescriptor data = open_folder(folder, generation);
  if (!data) return failed("make a folder", errno);
  for (const auto& [name, text] : contents) {
    TRY(write_file(data.get(), name, text.reveal(), settings_.file_mode, settings_.group, name));
  }
  return adopt(data.get(), folder_mode());
}

Status FolderTarget::create(int parent, const std::string& name, const Mark& mark,
                            const Contents& contents, const MayWrite& may_write,
                            Wrote& wrote) const {
  const std::string temporary = random_name(kTemporary);
  if (mkdirat(parent, temporary.c_str(), S_IRWXU) != 0) return failed("make a folder", errno);
  const auto fill = [&]() -> Status {
    const FileDescriptor folder = open_folder(parent, temporary);
    if (!folder) return failed("make a folder", errno);
    const std::string marker = random_name(kTemporary);
    TRY(write_marker(folder.get(), marker, mark));
    TRY(put_marker(folder.get(), marker));
    const std::string generation = generation_name();
    TRY(write_generation(folder.get(), generation, contents));
    TRY(put_link(folder.get(), generation, kData));
    for (const auto& [key, text] : contents) {
      TRY(put_link(folder.get(), std::string(kDataLinks) + key, key));
    }
    TRY(adopt(folder.get(), folder_mode()));
    if (!may_write()) {
      wrote = Wrote::not_now;
      remove_tree(parent, temporary);
      return {};
    }
    if (rename_without_replacing(parent, temporary, name) != 0) {
      if (errno == EEXIST || errno == ENOTEMPTY) return foreign("it was made a moment ago");
      return failed("name a folder", errno);
    }
    wrote = Wrote::written;
    return {};
  };
  Status filled = fill();
  if (!filled) remove_tree(parent, temporary);
  return filled;
}

Status FolderTarget::replace(int folder, const Mark& mark, const Contents& contents,
                             const MayWrite& may_write, Wrote& wrote) const {
  wrote = Wrote::not_now;
  if (!may_write()) return {};
  const bool is_new = !holds(folder, contents) || !is_as_set(folder);
  const std::string generation = generation_name();
  const std::string marker = random_name(kTemporary);
  const std::string before = link_text(folder, kData).value_or("");
  const auto swap = [&]() -> Status {
    if (is_new) TRY(write_generation(folder, generation, contents));
    TRY(write_marker(folder, marker, mark));
    // Writing to the disk may take so long that another process holds the Lease now.
    if (!may_write()) return {};
    if (is_new) TRY(put_link(folder, generation, kData));
    for (const auto& [key, text] : contents) {
      const std::string to = std::string(kDataLinks) + key;
      if (is_new && link_text(folder, key) != to) TRY(put_link(folder, to, key));
    }
    TRY(put_marker(folder, marker));
    wrote = is_new ? Wrote::written : Wrote::unchanged;
    return {};
  };
  Status swapped = swap();
  if (wrote == Wrote::not_now) {
    if (link_text(folder, kData) != generation) remove_tree(folder, generation);
    remove_left_over(folder);
    return swapped;
  }
  if (is_new) tidy(folder, contents, {generation, before});
  return adopt(folder, folder_mode());
}

Result<Wrote> FolderTarget::write(const Held& held, const Issue& issue, const MayWrite& may_write) {
  const Mark& mark = held.mark;
  const Contents contents = folder_contents(issue);
  const FileDescriptor root = TRY(open_root());
  const std::string& name_space = mark.name_space;
  if (mkdirat(root.get(), name_space.c_str(), S_IRWXU) == 0) {
    const FileDescriptor made = open_folder(root.get(), name_space);
    if (!made) return failed("make a folder", errno);
    TRY(adopt(made.get(), folder_mode()));
  } else if (errno != EEXIST) {
    return failed("make the namespace's folder", errno);
  }
  const FileDescriptor parent = open_folder(root.get(), name_space);
  if (!parent) return foreign("the namespace's is no folder");
  struct stat status = {};
  if (fstat(parent.get(), &status) != 0) return failed("open the namespace's folder", errno);
  TRY(check_folder(status, "the namespace's folder"));
  TRY(open_to_readers(parent.get(), status));
  TRY(lock(parent.get()));
  Wrote wrote = Wrote::not_now;
  const FileDescriptor folder = open_folder(parent.get(), mark.name);
  if (!folder && errno == ENOENT) {
    TRY(create(parent.get(), mark.name, mark, contents, may_write, wrote));
    return wrote;
  }
  if (!folder) return foreign("it is no folder");
  const std::optional<Mark> there = marker_of(folder.get());
  if (!there) return foreign(std::string("it has no ") + kMarker + " of this user's");
  if (!there->is_of(mark)) {
    return foreign("it belongs to the instance " + in_quotes(there->instance) +
                   ", ClusterProfile " + in_quotes(there->cluster()));
  }
  if (there->stands_for(mark, true)) {
    Issue as_written = issue;
    as_written.expires = there->expires;
    const bool is_same = holds(folder.get(), folder_contents(as_written));
    if (is_same && is_as_set(folder.get())) return Wrote::unchanged;
  }
  TRY(replace(folder.get(), mark, contents, may_write, wrote));
  return wrote;
}

Result<Wrote> FolderTarget::mark_expired(const Held&, const MayWrite&) { return Wrote::unchanged; }

Result<Wrote> FolderTarget::remove(const Held& held, const MayWrite& may_write) {
  const Mark& mark = held.mark;
  const FileDescriptor root = TRY(open_root());
  const FileDescriptor parent = open_folder(root.get(), mark.name_space);
  if (!parent) return Wrote::unchanged;
  TRY(lock(parent.get()));
  const FileDescriptor folder = open_folder(parent.get(), mark.name);
  if (!folder) return Wrote::unchanged;
  const std::optional<Mark> there = marker_of(folder.get());
  if (!there || !there->is_of(mark)) return Wrote::unchanged;
  if (!may_write()) return Wrote::not_now;
  // The folder is renamed first, so that it disappears as a whole.
  const std::string temporary = random_name(kTemporary);
  if (rename_without_replacing(parent.get(), mark.name, temporary) != 0) {
    return failed("remove a folder", errno);
  }
  remove_tree(parent.get(), temporary);
  return Wrote::written;
}

Result<std::vector<Held>> FolderTarget::scan() {
  const FileDescriptor root = TRY(open_root());
  std::vector<Held> held;
  const std::vector<std::string> name_spaces = TRY(list_entries(root.get()));
  for (const std::string& name_space : name_spaces) {
    if (!is_dns1123_label(name_space)) continue;
    const FileDescriptor parent = open_folder(root.get(), name_space);
    if (!parent) continue;
    TRY(lock(parent.get()));
    const std::vector<std::string> names = TRY(list_entries(parent.get()));
    for (const std::string& name : names) {
      const FileDescriptor folder = open_folder(parent.get(), name);
      if (!folder) continue;
      std::optional<Mark> mark = marker_of(folder.get());
      // No other process works on it, because that needs the lock.
      const bool is_left_over = is_temporary(name);
      if (is_left_over && settings_.removes_left_overs) remove_tree(parent.get(), name);
      const bool is_ours = mark && !is_left_over && mark->instance == settings_.instance &&
                           mark->name_space == name_space && mark->name == name;
      if (!is_ours) continue;
      if (settings_.removes_left_overs) remove_left_over(folder.get());
      // A folder that lacks a file, or has other modes than the settings say, is due.
      if (!is_whole(folder.get()) || !is_as_set(folder.get())) mark->digest.clear();
      held.push_back(TRY(place_of(*mark)));
    }
  }
  return held;
}

}  // namespace execcred::sync

// SPDX-License-Identifier: Apache-2.0
#include "install_files.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/file_write.hpp>
#include <execcred/os/signal_block.hpp>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

namespace execcred::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "execcred-";
// kubectl runs it for "kubectl execcred". It is execcred itself, and copied only on request.
constexpr std::string_view kForKubectl = "kubectl-execcred";
constexpr mode_t kMode = 0555;
constexpr mode_t kModeBits = 07777;
constexpr std::size_t kMaxPlugin = std::size_t{256} * 1024 * 1024;
constexpr std::size_t kPiece = std::size_t{64} * 1024;
constexpr std::string_view kWhereFrom =
    "run execcred from the folder that the release's plugins are in";

std::string user() { return "user " + std::to_string(geteuid()); }

bool is_plugin(const fs::path& path) {
  struct stat status = {};
  return is_plugin_name(path.filename().native()) && stat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode) && (status.st_mode & 0111U) != 0;
}

Error cannot(const std::string& what, const fs::path& path, const std::string& why,
             std::string hint = {}) {
  return Error{.kind = Error::Kind::configuration,
               .message = "cannot " + what + " " + in_quotes(path.native()) + ": " + why,
               .hint = std::move(hint)};
}

fs::path source_of(const fs::path& folder, const std::string& name) {
  return folder / (name == kForKubectl ? "execcred" : name);
}

// The state of the existing file that has the plugin's name.
struct Present {
  bool is_there = false;
  bool is_same = false;
};

// Reads the file in pieces, so that the memory of an init container does not have to hold the
// plugin twice.
Result<Sha256Digest> digest_of_file(const fs::path& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::vector<char> buffer(kPiece);
  Sha256 digest;
  for (;;) {
    const ssize_t count = read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot("read", path, system_message(errno));
    if (count == 0) return digest.finish();
    digest.add({buffer.data(), static_cast<std::size_t>(count)});
  }
}

Result<Present> inspect(const fs::path& path, std::size_t size, const Sha256Digest& digest) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return Present{};
  if (S_ISLNK(status.st_mode)) return Present{.is_there = true};
  if (!S_ISREG(status.st_mode)) {
    return cannot("write", path,
                  S_ISDIR(status.st_mode) ? "it is a directory" : "it is no regular file",
                  "remove it, or name another directory");
  }
  Present present{.is_there = true};
  if ((status.st_mode & kModeBits) == kMode && static_cast<std::size_t>(status.st_size) == size) {
    const Result<Sha256Digest> current = digest_of_file(path);
    present.is_same = current && *current == digest;
  }
  return present;
}

// Writes a copy under a temporary name, and reads it again from there. Fails with unavailable if
// the content is not the same.
Result<NewFile> write_copy(const fs::path& path, std::string_view content,
                           const Sha256Digest& digest) {
  NewFile copy = TRY(NewFile::write(path, content, kMode));
  const Sha256Digest written = TRY(digest_of_file(copy.path()));
  if (written != digest) {
    return Error{.kind = Error::Kind::unavailable,
                 .message = "the copy for " + in_quotes(path.native()) + " is not what was written",
                 .hint = "check its file system for errors"};
  }
  return copy;
}

struct Copy {
  InstalledPlugin plugin;
  std::optional<NewFile> file = std::nullopt;  // nullopt: unchanged
};

Result<Copy> make_copy(const fs::path& source, const fs::path& path) {
  const std::string content =
      TRY(read_untrusted_file(source, kMaxPlugin).hint("let " + user() + " read it"));
  const Sha256Digest digest = sha256(content);
  const Present present = TRY(inspect(path, content.size(), digest));
  Copy copy{.plugin = {.name = path.filename().native(),
                       .size = content.size(),
                       .digest = to_hex(digest),
                       .done = present.is_there ? "replaced" : "installed"}};
  if (present.is_same) {
    copy.plugin.done = "unchanged";
    return copy;
  }
  NewFile file = TRY(write_copy(path, content, digest));
  copy.file.emplace(std::move(file));
  return copy;
}

// The remedy for most failures to write a file.
std::string needs_of(const fs::path& source, const std::vector<std::string>& names) {
  std::uintmax_t bytes = 0;
  for (const std::string& name : names) {
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(source_of(source, name), failed);
    if (!failed) bytes += size;
  }
  return "let " + user() + " write there, and provide space for " + std::to_string(bytes) +
         " bytes";
}

std::string list_of(const std::vector<std::string>& names) {
  return names.empty() ? std::string(kWhereFrom) : "there are " + join(names, ", ");
}

}  // namespace

bool is_plugin_name(std::string_view name) {
  return name.starts_with(kPrefix) && is_dns1123_label(name);
}

// AT_EXECFN is the path by which the program was started, perhaps a symbolic link.
Result<fs::path> own_directory() {
  std::error_code failed;
  fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed && program.is_absolute()) return program.parent_path();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector holds pointers as numbers
  const auto* started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  program = fs::canonical(started_as == nullptr ? "" : started_as, failed);
  if (!failed) return program.parent_path();
  return Error{.kind = Error::Kind::configuration,
               .message = "cannot find the path of execcred: " + failed.message(),
               .hint = "start it by its absolute path"};
}

Result<std::vector<std::string>> choose_plugins(const fs::path& source,
                                                const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(source, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (is_plugin(entry->path())) names.push_back(entry->path().filename().native());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : wanted) {
    if (name == kForKubectl || std::binary_search(names.begin(), names.end(), name)) continue;
    return Error{
        .kind = Error::Kind::configuration,
        .message = "there is no plugin " + in_quotes(name) + " in " + in_quotes(source.native()),
        .hint = list_of(names)};
  }
  if (!wanted.empty()) {
    names = wanted;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  if (!names.empty()) return names;
  return Error{.kind = Error::Kind::configuration,
               .message = "there is no plugin beside execcred, in " + in_quotes(source.native()),
               .hint = std::string(kWhereFrom)};
}

Result<std::vector<InstalledPlugin>> install_plugins(const fs::path& source,
                                                     const std::vector<std::string>& names,
                                                     const InstallDirectory& target) {
  const SignalBlock held(SignalBlock::Signals::ending_and_alarm);
  const std::string needs = needs_of(source, names);
  std::vector<Copy> copies;
  for (const std::string& name : names) {
    Copy copy = TRY(make_copy(source_of(source, name), target.path() / name).hint(needs));
    copies.push_back(std::move(copy));
  }
  std::vector<InstalledPlugin> done;
  for (Copy& copy : copies) {
    if (copy.file) TRY(copy.file->take_place().hint(needs));
    done.push_back(std::move(copy.plugin));
  }
  return done;
}

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// execcred install: copies the plugins beside this program into a directory, for an init container
// whose image has no cp. Each copy is written under a temporary name, compared with the original,
// and then renamed, so that its name never refers to an incomplete program.
#include "commands.hpp"

#include "table.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/file_write.hpp>
#include <execcred/os/signal_block.hpp>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

namespace fs = std::filesystem;

// Copying takes less than a second; a file system that does not respond must not block the start of
// a Pod.
constexpr std::chrono::minutes kLimit(5);
constexpr std::string_view kTimeoutHint = "check that the directory's file system responds";
constexpr std::string_view kPrefix = "execcred-";
// kubectl runs it for "kubectl execcred". It is execcred itself, and copied only on request.
constexpr std::string_view kForKubectl = "kubectl-execcred";
constexpr mode_t kMode = 0555;
constexpr mode_t kModeBits = 07777;
constexpr std::size_t kMaxPlugin = std::size_t{256} * 1024 * 1024;
constexpr std::size_t kPiece = std::size_t{64} * 1024;
constexpr std::string_view kWhereFrom =
    "run execcred from the folder that the release's plugins are in";

bool is_plugin_name(std::string_view name) {
  return name.starts_with(kPrefix) && is_dns1123_label(name);
}

std::string user() { return "user " + std::to_string(geteuid()); }

std::string hint_for(int error_number) {
  if (error_number == ENOENT) return "create it first (mkdir), or mount an emptyDir volume there";
  if (error_number == ENOTDIR) return "name a directory";
  return "let " + user() + " read and write there";
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

// The target: an existing directory, to which one run at a time writes.
class InstallDirectory {
 public:
  // Opens the directory, waits until no other run writes to it, and removes the unfinished files of
  // killed runs. Fails (configuration) if the directory does not exist or cannot be opened.
  static Result<InstallDirectory> open(const fs::path& path) {
    FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!descriptor) {
      const int why = errno;
      return Error::configuration(
          "cannot open the directory " + in_quotes(path.native()) + ": " + system_message(why),
          hint_for(why));
    }
    deadline::enter_phase("waiting for another execcred install");
    if (lock(descriptor.get())) remove_unfinished(path);
    deadline::enter_phase("copying the plugins");
    return InstallDirectory(path, std::move(descriptor));
  }

  const fs::path& path() const { return path_; }

  // Fails (configuration) if the two are the same directory, even by different paths.
  Status check_is_not(const fs::path& source) const {
    struct stat here = {};
    struct stat there = {};
    if (fstat(descriptor_.get(), &here) != 0 || stat(source.c_str(), &there) != 0) return {};
    if (here.st_dev != there.st_dev || here.st_ino != there.st_ino) return {};
    return Error::configuration(
        in_quotes(path_.native()) + " is the directory that the plugins are copied from",
        "name another directory, or run them from there");
  }

 private:
  InstallDirectory(fs::path path, FileDescriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  fs::path path_;
  FileDescriptor descriptor_;  // holds the lock
};

struct InstalledPlugin {
  std::string name;
  std::size_t size = 0;   // bytes
  std::string digest;     // SHA-256, hexadecimal
  std::string_view done;  // installed, replaced, unchanged
};

bool is_plugin(const fs::path& path) {
  struct stat status = {};
  return is_plugin_name(path.filename().native()) && stat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode) && (status.st_mode & 0111U) != 0;
}

Error cannot(const std::string& what, const fs::path& path, const std::string& why,
             std::string hint = {}) {
  return Error::configuration("cannot " + what + " " + in_quotes(path.native()) + ": " + why,
                              std::move(hint));
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
    return Error::unavailable(
        "the copy for " + in_quotes(path.native()) + " is not what was written",
        "check its file system for errors");
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

// The directory of this program, as the kernel knows it. It is found without /proc too. Fails
// (configuration) if it cannot be found.
Result<fs::path> own_directory() {
  std::error_code failed;
  fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed && program.is_absolute()) return program.parent_path();
  // AT_EXECFN is the path by which the program was started, perhaps a symbolic link.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector holds pointers as numbers
  const auto* started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  program = fs::canonical(started_as == nullptr ? "" : started_as, failed);
  if (!failed) return program.parent_path();
  return Error::configuration("cannot find the path of execcred: " + failed.message(),
                              "start it by its absolute path");
}

// The sorted names of all executables in `source` that have the name of a plugin. If `wanted` is
// not empty, the names in `wanted`; the name kubectl-execcred stands for a copy of this program.
// Fails (configuration) if there is no plugin, or if a wanted one is missing.
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
    return Error::configuration(
        "there is no plugin " + in_quotes(name) + " in " + in_quotes(source.native()),
        list_of(names));
  }
  if (!wanted.empty()) {
    names = wanted;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  if (!names.empty()) return names;
  return Error::configuration(
      "there is no plugin beside execcred, in " + in_quotes(source.native()),
      std::string(kWhereFrom));
}

// Writes all copies before it renames the first one. Fails with configuration, or with unavailable
// if the file system returned other content than was written.
Result<std::vector<InstalledPlugin>> install_plugins(const fs::path& source,
                                                     const std::vector<std::string>& names,
                                                     const InstallDirectory& target) {
  const SignalBlock held(SignalBlock::Signals::ending);
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

std::string report(const std::vector<InstalledPlugin>& plugins) {
  Table table({"DONE", "PLUGIN", "BYTES", "SHA256"});
  for (const InstalledPlugin& plugin : plugins) {
    table.add({plugin.done, plugin.name, std::to_string(plugin.size), plugin.digest});
  }
  return table.text();
}

class Install final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    options.add_operands(directories_, {.usage = "DIR", .takes = Takes::directory});
    options.group("Input");
    options.add("plugin", plugins_,
                {.value = "NAME",
                 .help = "Plugin to copy, or kubectl-execcred; default: all beside execcred"});
    options.add_example("Copy all plugins", "execcred install ./plugins");
    options.add_example(
        "Copy two of them",
        "execcred install --plugin=execcred-spiffe --plugin=execcred-aws ./plugins");
  }

  Result<Outcome> run() override {
    if (directories_.size() != 1) {
      return Error::configuration(
          directories_.empty() ? "no directory is given"
                               : std::to_string(directories_.size()) + " directories are given",
          "write execcred install DIR; the directory must exist");
    }
    deadline::start(kProgram, kLimit, kTimeoutHint);
    const fs::path source = TRY(own_directory());
    const std::vector<std::string> names = TRY(choose_plugins(source, plugins_));
    const InstallDirectory target = TRY(InstallDirectory::open(directories_.front()));
    TRY(target.check_is_not(source));
    const std::vector<InstalledPlugin> done = TRY(install_plugins(source, names, target));
    return Outcome{.text = SecretString(report(done))};
  }

 private:
  std::vector<std::string> directories_;
  std::vector<std::string> plugins_;
};

}  // namespace

std::unique_ptr<Command> make_install() { return std::make_unique<Install>(); }

}  // namespace execcred::cli

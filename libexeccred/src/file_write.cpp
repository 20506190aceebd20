// SPDX-License-Identifier: Apache-2.0
#include <execcred/file.hpp>
#include <execcred/file_write.hpp>
#include <execcred/text.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

namespace execcred {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, const std::string& why, std::string hint = {}) {
  return Error{.kind = Error::Kind::configuration,
               .message = "cannot write " + in_quotes(path.native()) + ": " + why,
               .hint = std::move(hint)};
}

// A signal that ended the process between creation and rename would leave the new file behind.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM}) sigaddset(&ending, signal);
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_ = {};
};

// The file that is written first; removed unless it was renamed.
class NewFile {
 public:
  explicit NewFile(const fs::path& target)
      : path_((target.has_parent_path() ? target.parent_path() / "" : fs::path()) /
              ("." + target.filename().native() + ".XXXXXX")),
        text_(path_.native()),
        file_(mkostemp(text_.data(), O_CLOEXEC)) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ && !is_renamed_) unlink(text_.c_str());
  }

  explicit operator bool() const { return static_cast<bool>(file_); }

  // False with errno set at the first failure.
  bool fill(std::string_view content) const {
    while (!content.empty()) {
      const ssize_t count = write(file_.get(), content.data(), content.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      content.remove_prefix(static_cast<std::size_t>(count));
    }
    return fsync(file_.get()) == 0;
  }

  bool rename_to(const fs::path& target) {
    is_renamed_ = std::rename(text_.c_str(), target.c_str()) == 0;
    return is_renamed_;
  }

 private:
  fs::path path_;
  std::string text_;  // with the letters that mkostemp put in
  FileDescriptor file_;
  bool is_renamed_ = false;
};

void sync_directory(const fs::path& target) {
  const fs::path directory = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const FileDescriptor descriptor(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor) fsync(descriptor.get());
}

// What is there already, if it may be replaced.
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

}  // namespace

Result<Written> replace_file(const fs::path& path, std::string_view content) {
  bool exists = false;
  TRY(check_target(path, exists));
  if (exists) {
    const Result<std::string> current = read_untrusted_file(path, content.size());
    if (current && *current == content) return Written::unchanged;
  }
  const SignalsHeld held;
  NewFile file(path);
  if (!file || !file.fill(content) || !file.rename_to(path)) {
    return cannot_write(path, system_message(errno));
  }
  sync_directory(path);
  return Written::replaced;
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include "installation.hpp"
#include "rights.hpp"
#include "test_paths.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <set>
#include <stdexcept>
#include <utility>

namespace blackbox {
namespace {

namespace fs = std::filesystem;

bool write_whole(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return true;
  const bool is_written = write(file, text.data(), text.size()) >= 0;
  close(file);
  return is_written;
}

// Users other than root may mount in a user namespace, if that is not forbidden.
bool become_root() {
  if (geteuid() == 0) return true;
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER) != 0) return false;
  return write_whole("/proc/self/setgroups", "deny") &&
         write_whole("/proc/self/uid_map", "0 " + user + " 1") &&
         write_whole("/proc/self/gid_map", "0 " + group + " 1");
}

}  // namespace

Installation::Installation() {
  put("execcred-a", "#!/bin/sh\necho a\n");
  put("execcred-b", std::string(30'000, 'b'));
  fs::create_directory(directory());
  std::error_code failed;
  fs::create_hard_link(EXECCRED_BIN "/execcred", program(), failed);
  if (failed) fs::copy_file(EXECCRED_BIN "/execcred", program());
}

Command Installation::command(std::vector<std::string> arguments) const {
  if (arguments.empty()) arguments = {directory()};
  arguments.insert(arguments.begin(), {program(), "install"});
  return {.arguments = std::move(arguments)};
}

Outcome Installation::run(std::vector<std::string> arguments) const {
  return blackbox::run(command(std::move(arguments)));
}

void Installation::put(std::string_view name, std::string_view content, mode_t mode) const {
  sandbox_.write("release/" + std::string(name), content, mode);
}

std::string Installation::installed(std::string_view name) const {
  return directory() + "/" + std::string(name);
}

std::string Installation::listing() const {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory())) {
    names.insert(entry.path().filename().native());
  }
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

bool Installation::has(std::string_view name) const {
  const struct stat status = status_of(installed(name));
  return S_ISREG(status.st_mode) && (status.st_mode & 07777U) == 0555U &&
         read_text(installed(name)) == read_text(sandbox_.at("release/" + std::string(name)));
}

struct stat status_of(const std::string& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return {};
  return status;
}

std::optional<Outcome> run_behind_tmpfs(Command command, const std::string& path,
                                        const char* options, unsigned long flags) {
  return run_if_allowed(std::move(command), "mounts of its own", [path, options, flags] {
    return become_root() && make_mounts_private() &&
           mount("tmpfs", path.c_str(), "tmpfs", flags, options) == 0;
  });
}

}  // namespace blackbox

// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#include <execcred/base/error.hpp>
#include <execcred/base/text.hpp>
#include <execcred/kube/command_hint.hpp>
#include <execcred/os/program_file.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace execcred::lint {
namespace {

namespace fs = std::filesystem;

// Where consumers' manifests mount the plugins.
constexpr std::string_view kPluginDirectory = "/plugins";

fs::path on_this_machine(const Scope& scope, const fs::path& command) {
  const fs::path& directory = scope.limits().plugin_directory;
  if (directory.empty() || command.parent_path() != kPluginDirectory) return command;
  return directory / command.filename();
}

void report_missing(const Scope& scope, const fs::path& file, const std::string& command,
                    std::string_view path) {
  const std::string subject =
      "is " + in_quotes(command) +
      (file == command ? std::string(", which") : ", but " + in_quotes(file.native()));
  std::error_code ignored;
  // If the machine has the folder, the program should be in it.
  if (fs::exists(file.parent_path(), ignored)) {
    scope.error(path, subject + " does not exist",
                missing_command_hint(command, "install the program there, or name another"));
    return;
  }
  scope.warning(path, subject + " is not on this machine",
                missing_command_hint(command,
                                     "run lint where the plugins are, name their directory with "
                                     "--plugin-dir=DIR, or skip these checks with --no-files"));
}

}  // namespace

void check_program(const Scope& scope, const std::string& command, std::string_view path) {
  if (!scope.limits().looks_at_programs) return;
  const fs::path file = on_this_machine(scope, command);
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0) {
    const int problem = errno;
    if (problem == ENOENT || problem == ENOTDIR) {
      report_missing(scope, file, command, path);
    } else {
      scope.warning(path,
                    "is " + in_quotes(file.native()) +
                        ", which cannot be examined: " + system_message(problem),
                    "run lint as the user of the controller");
    }
    return;
  }
  const std::string subject = "is " + in_quotes(file.native()) + ", ";
  if (!S_ISREG(status.st_mode)) {
    scope.error(path, subject + "which is no regular file", "name the program itself");
    return;
  }
  if ((status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0) {
    scope.error(path, subject + "which is not executable", "chmod 0555 it");
  }
  const std::string weak = weak_point(file);
  if (weak.empty()) return;
  const std::string where = weak == file.native() ? "which" : "where " + in_quotes(weak);
  scope.error(path, subject + where + " may be written by others than its owner",
              "remove the write permission of group and others");
}

}  // namespace execcred::lint

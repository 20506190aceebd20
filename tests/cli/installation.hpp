// SPDX-License-Identifier: Apache-2.0
// A folder with execcred and plugins, like an unpacked release, and a directory to install into.
#pragma once

#include "child_process.hpp"
#include "sandbox.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

class Installation {
 public:
  // With the plugins execcred-a and execcred-b, and an empty directory.
  Installation();

  // execcred install ARGUMENTS. Without ARGUMENTS, the directory is the only argument.
  Command command(std::vector<std::string> arguments = {}) const;
  Outcome run(std::vector<std::string> arguments = {}) const;

  // A file beside execcred.
  void put(std::string_view name, std::string_view content, mode_t mode = 0755) const;

  std::string program() const { return sandbox_.at("release/execcred"); }
  std::string directory() const { return sandbox_.at("plugins"); }
  std::string installed(std::string_view name) const;
  // The names of all entries of the directory, sorted, each followed by a space.
  std::string listing() const;
  // Whether the plugin is installed, with its content and with mode 0555.
  bool has(std::string_view name) const;

  const Sandbox& sandbox() const { return sandbox_; }

 private:
  Sandbox sandbox_;
};

inline void check_installs(const Outcome& outcome) {
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
}

inline bool has_text(const Outcome& outcome, std::string_view text) {
  return (outcome.output + outcome.error_output).find(text) != std::string::npos;
}

// Without following a symbolic link.
struct stat status_of(const std::string& path);

// Runs the command with mounts of its own, and with a tmpfs that hides the content of `path`.
// nullopt if that is not permitted; the test is then reported as skipped.
std::optional<Outcome> run_behind_tmpfs(Command command, const std::string& path,
                                        const char* options, unsigned long flags = 0);

}  // namespace blackbox

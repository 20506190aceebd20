// SPDX-License-Identifier: Apache-2.0
// The commands of execcred, and what somebody typed after its name. CLI11 finds the command,
// divides the arguments and lays out --help; command_line.cpp alone includes its header, which
// takes longer to compile than any command.
//
// Stricter than CLI11 by itself: a value that starts with "--" must be attached (--x=--y), an empty
// value is an error, and an option with one value may stand twice only with equal values.
#pragma once

#include "command.hpp"

#include <execcred/base/environment.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

class CommandLine {
 public:
  static constexpr std::string_view kSummary =
      "Works with ClusterProfiles, provider mapping files and the plugins that they name.";

  struct Entry {
    std::string_view name = {};
    std::string_view summary = {};
    Command* command = nullptr;
    CommandOptions options = {};
    bool wants_help = false;  // set by its --help
    // For scripts, and in no list.
    bool is_hidden() const { return name.starts_with('_'); }
  };

  CommandLine() = default;
  // The options refer to the entries.
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // The command must outlive this, and is declared at once.
  void add(std::string_view name, std::string_view summary, Command& command);

  // What it was started as: as kubectl-execcred, kubectl's plugin, help says "kubectl execcred".
  void set_program(std::string_view path);

  // Runs the command that is named, or gives help or the version. `arguments` are argv without its
  // first. Fails (configuration) where they are wrong, and as the command does. An argument that is
  // neither a command, an option's name nor its value is not shown: it may be a secret.
  Result<Outcome> run(const std::vector<std::string>& arguments, const Environment& environment);

  // --help of the program, or of a command.
  std::string help() const;
  std::string help(const Entry& entry) const;

  const std::vector<std::unique_ptr<Entry>>& entries() const { return entries_; }
  const Entry* find(std::string_view name) const;
  // Fails (configuration) where there is none, with a suggestion.
  Error unknown_command(const std::string& typed) const;

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
  std::string program_{kProgram};
};

}  // namespace execcred::cli

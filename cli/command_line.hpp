// SPDX-License-Identifier: Apache-2.0
// The commands of execcred, and the typed arguments. CLI11 finds the command, splits the arguments
// and formats --help; only command_line.cpp includes its header, which takes longer to compile than
// any command.
//
// Stricter than CLI11 by itself: a value that starts with "--" must be attached (--x=--y), an empty
// value is an error, and an option with one value may be given twice only with equal values.
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
    // For scripts; not listed.
    bool is_hidden() const { return name.starts_with('_'); }
  };

  CommandLine() = default;
  // The options refer to the entries.
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // The command must outlive this, and is declared at once.
  void add(std::string_view name, std::string_view summary, Command& command);

  // The path of the program: for kubectl-execcred, kubectl's plugin, help prints "kubectl
  // execcred".
  void set_program(std::string_view path);

  // Runs the named command, or prints help or the version. `arguments` are argv without its first.
  // Fails (configuration) where they are wrong, and as the command does. An argument that is
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

// SPDX-License-Identifier: Apache-2.0
// The commands of execcred, and the parsing of its arguments. CLI11 finds the command, splits the
// arguments and formats --help. Only command_line.cpp includes CLI11's header, because that header
// takes longer to compile than any command.
//
// Parsing is stricter than CLI11's: a value that starts with "--" must be attached (--x=--y), an
// empty value is an error, and an option with one value may be given twice only with equal values.
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
    std::unique_ptr<Command> command = {};
    CommandOptions options = {};
    bool wants_help = false;  // set by its --help
    // A hidden command is for scripts. Help does not list it.
    bool is_hidden() const { return name.starts_with('_'); }
  };

  CommandLine() = default;
  // Not copyable: the options refer to the entries.
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Adds a command, and calls its add_options().
  void add(std::string_view name, std::string_view summary, std::unique_ptr<Command> command);

  // `path` is the path by which the program was started. For kubectl-execcred, which is kubectl's
  // plugin, help prints "kubectl execcred".
  void set_program(std::string_view path);

  // Runs the named command, or prints help or the version. `arguments` are argv without its first
  // element. Fails (configuration) if the arguments are wrong, and as the command does. Of an
  // unknown option, only the name is shown. An operand that the command does not take is shown by
  // its position only, because it may be a secret.
  Result<Outcome> run(const std::vector<std::string>& arguments, const Environment& environment);

  // The text of --help for the program, or for a command.
  std::string help() const;
  std::string help(const Entry& entry) const;

  const std::vector<std::unique_ptr<Entry>>& entries() const { return entries_; }
  const Entry* find(std::string_view name) const;
  // The error (configuration) for a word that is not a command, with a suggestion if a command has
  // a similar name. If `typed` is empty, no command was given.
  Error unknown_command(const std::string& typed) const;

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
  std::string program_{kProgram};
};

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// execcred completion: a script that completes execcred and its plugins in a shell. The script
// contains no options: it runs the hidden command __complete, so that it has the options of the
// installed program.
#pragma once

#include "command_line.hpp"

#include <execcred/exec/option_set.hpp>

#include <string>
#include <vector>

namespace execcred::cli {

// How a shell completes a plugin's option.
Takes takes_of(const Option& option);

class Completion final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  std::vector<std::string> shells_;
};

// execcred __complete -- PROGRAM WORD... LAST: prints the candidates for LAST. The first line is
// "words", "file", "directory" or "none". After "words" there is one line for each candidate: the
// candidate, a tab, its description, a tab, and the heading of its group. Description and heading
// may be empty. If LAST is "--x=…", the candidates are for the part after the "=".
class Complete final : public Command {
 public:
  explicit Complete(const CommandLine& line) : line_(line) {}
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  const CommandLine& line_;
  std::vector<std::string> words_;
};

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// execcred help: prints what --help prints, for the program or for a command.
#pragma once

#include "command_line.hpp"

#include <string>
#include <vector>

namespace execcred::cli {

class Help final : public Command {
 public:
  explicit Help(const CommandLine& line) : line_(line) {}
  // Declares the names of the commands that were added to the line before, for completion.
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  const CommandLine& line_;
  std::vector<std::string> words_;
};

}  // namespace execcred::cli

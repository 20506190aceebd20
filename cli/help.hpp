// SPDX-License-Identifier: Apache-2.0
// execcred help: what --help prints, of the program or of a command.
#pragma once

#include "command_line.hpp"

#include <string>
#include <vector>

namespace execcred::cli {

class Help final : public Command {
 public:
  explicit Help(const CommandLine& line) : line_(line) {}
  // Of the commands that the line has by now, for completion.
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  const CommandLine& line_;
  std::vector<std::string> words_;
};

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// execcred install: copies the plugins beside this program into a directory, for an init container
// whose image has no cp.
#pragma once

#include "command.hpp"

#include <string>
#include <vector>

namespace execcred::cli {

class Install final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  std::vector<std::string> directories_;
  std::vector<std::string> plugins_;
};

}  // namespace execcred::cli

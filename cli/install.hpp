// SPDX-License-Identifier: Apache-2.0
// execcred install: the plugins that lie beside this program, copied into a directory: what an init
// container does for a controller, from an image that has no cp.
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

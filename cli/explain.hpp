// SPDX-License-Identifier: Apache-2.0
// execcred explain: what docs/causes.md says of a cause or an exit code. The page is in the
// program, so nothing is read or asked.
#pragma once

#include "command.hpp"

#include <string>
#include <vector>

namespace execcred::cli {

class Explain final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  std::vector<std::string> words_;
};

}  // namespace execcred::cli

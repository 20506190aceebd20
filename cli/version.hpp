// SPDX-License-Identifier: Apache-2.0
// execcred version: which release this is, and which versions of the exec credential API it knows.
// Nothing of the machine or the time of the build.
#pragma once

#include "command.hpp"

#include <string>

namespace execcred::cli {

// What --version prints.
std::string version_text();

class Version final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  std::string output_;
};

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// execcred version: the release, and the known versions of the exec credential API. The output does
// not contain the machine or time of the build.
#pragma once

#include "command.hpp"

#include <string>

namespace execcred::cli {

// What --version prints.
std::string version_text();

// The document of -o json.
std::string version_json();

class Version final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  std::string output_;
};

}  // namespace execcred::cli

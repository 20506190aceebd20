// SPDX-License-Identifier: Apache-2.0
// execcred migrate: rewrites users of other plugins in a kubeconfig or mapping file to execcred's.
// Runs nothing; a user that cannot be rewritten completely stays unchanged.
#pragma once

#include "command.hpp"
#include "replacement.hpp"

namespace execcred::cli {

class Migrate final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Result<std::string> read() const;

  std::vector<std::string> files_;
  std::string context_;
  std::string plugin_dir_ = "/plugins";
  bool wraps_ = false;
  Replacement output_;
};

}  // namespace execcred::cli

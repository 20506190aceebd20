// SPDX-License-Identifier: Apache-2.0
// execcred get: runs the plugin of one ClusterProfile, as a controller would, and prints the
// credential.
#pragma once

#include "command.hpp"

namespace execcred::cli {

class Get final : public Command {
 public:
  void add_options(OptionSet& options) override;
  Result<Outcome> run() override;

 private:
  Result<SecretString> credential_text() const;

  AccessOptions access_;
  Duration timeout_ = kPluginLimit;
  std::string output_ = "exec-credential";
};

}  // namespace execcred::cli

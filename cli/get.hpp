// SPDX-License-Identifier: Apache-2.0
// execcred get: runs the plugin of one ClusterProfile, as a controller would, and prints the
// credential. What the plugin says on its standard error is shown.
#pragma once

#include "command.hpp"

namespace execcred::cli {

class Get final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Result<Credential> run_plugin(const Access& access) const;
  Result<SecretString> credential_text(const ProviderMapping& mapping,
                                       const ClusterProfile& profile) const;

  AccessOptions access_;
  Duration timeout_ = kPluginLimit;
  bool debug_ = false;
  std::string output_;
};

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// execcred get: runs the plugin of one ClusterProfile, as a controller would, and prints the
// credential. The plugin's standard error is shown. With --all, or with several names, runs the
// plugins of all these ClusterProfiles, and prints the results.
#pragma once

#include "command.hpp"
#include "fleet.hpp"

#include <execcred/engine/get_credential.hpp>

namespace execcred::cli {

class Get final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Result<Credential> run_plugin(const Access& access) const;
  Result<SecretString> credential_text(const ProviderMapping& mapping,
                                       const ClusterProfile& profile) const;

  // Whether --all or several names are given.
  bool is_for_fleet() const { return is_for_all_ || access_.has_several_names(); }
  Status check();
  Result<Outcome> get_one() const;
  Result<Outcome> get_every() const;

  AccessOptions access_;
  bool is_for_all_ = false;
  FleetOptions fleet_{.shows_progress = true};
  Duration timeout_ = kPluginLimit;
  bool debug_ = false;
  std::string output_;
  std::string color_;
};

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// execcred grant: prints what each cluster must be told, so that the user of a plugin's credential
// may do what is asked for. Sends nothing to a cluster; with --check, asks it whether it is told.
#pragma once

#include "target_options.hpp"

#include "fleet.hpp"
#include "grant/catalogue.hpp"
#include "next_command.hpp"

#include <execcred/engine/get_credential.hpp>

#include <string>
#include <vector>

namespace execcred::cli {

class Grant final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Result<grant::Rules> rules() const;
  Outcome check(std::vector<engine::Target> targets, const grant::Rules& rules, Outcome outcome);
  // Of `command`, with the rights that were asked for.
  NextCommand next(std::string_view command) const;
  Outcome print(std::vector<engine::Target> targets, const grant::Rules& rules, Outcome outcome);

  TargetOptions targets_;
  std::vector<std::string> permissions_;
  std::string cluster_role_;
  bool binds_groups_ = false;
  bool is_check_ = false;
  Duration timeout_ = kPluginLimit;
  FleetOptions fleet_{.shows_progress = true};
  std::string format_;
};

}  // namespace execcred::cli

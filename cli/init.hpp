// SPDX-License-Identifier: Apache-2.0
// execcred init: writes what a consumer needs for the ClusterProfiles of a hub: the mapping, the
// rights on the hub, and the consumer's own manifests. Changes no file that exists.
#pragma once

#include "command.hpp"

#include "init/fleet_needs.hpp"
#include "init/pieces.hpp"

#include <map>
#include <string>
#include <vector>

namespace execcred::cli {

class Init final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Result<std::map<std::string, std::string>> plugins() const;
  Status write(const std::vector<init::Piece>& files, Outcome& outcome) const;
  std::string next_command() const;

  ProfileSource source_;
  std::string consumer_;
  std::string directory_;
  std::string plugin_directory_ = "/plugins";
  std::vector<std::string> plugins_;
  bool is_dry_ = false;
  bool is_forced_ = false;
  bool may_be_empty_ = false;
};

}  // namespace execcred::cli

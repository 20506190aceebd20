// SPDX-License-Identifier: Apache-2.0
// --from-hub and the options that choose the hub; --namespace and --selector, which choose
// ClusterProfiles of the hub and of files.
#pragma once

#include "command_options.hpp"

#include <execcred/base/result.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/label_selector.hpp>

#include <string>

namespace execcred::cli {

class HubOptions {
 public:
  void add_to(CommandOptions& options);

  bool is_used() const { return is_used_; }
  // Whether --namespace and --selector choose the ClusterProfile. One whose name and labels cannot
  // be read is chosen, so that it is reported.
  bool chooses(const ProfileName& profile) const;
  // Whether they exclude any.
  bool is_choice() const { return !name_space_.empty() || !selector_.empty(); }

  // Fails (configuration) where an option that needs --from-hub is given without it; `is_needed`
  // where the command asks the hub for other things too.
  Status check(bool is_needed = false) const;

  bool is_unset() const;
  bool has_kubeconfig_alone() const;
  const std::string& kubeconfig() const { return kubeconfig_; }
  const std::string& context() const { return context_; }

  // Empty: all.
  const std::string& name_space() const { return name_space_; }
  const LabelSelector& selector() const { return selector_; }

  // From here on the command has one minute in total. Fails as find_hub does.
  Result<HubClient> connect() const;
  // For a command that runs for long. Fails as find_hub does.
  Result<HubClient> connect_for_long() const;

 private:
  bool is_used_ = false;
  std::string name_space_;
  LabelSelector selector_;
  std::string kubeconfig_;
  std::string context_;
};

}  // namespace execcred::cli

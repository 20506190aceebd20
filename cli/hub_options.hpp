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
  // Whether --namespace and --selector choose the ClusterProfile. One whose name and namespace are
  // both unknown is chosen, so that it is reported.
  bool chooses(const ProfileName& profile) const;
  // Whether --namespace or --selector is given.
  bool is_choice() const { return !name_space_.empty() || !selector_.empty(); }

  // Fails (configuration) if --kubeconfig or --context is given without --from-hub. They are
  // allowed if `is_needed`: the command uses the hub for other things too.
  Status check(bool is_needed = false) const;

  bool is_unset() const;
  bool has_kubeconfig_alone() const;
  const std::string& kubeconfig() const { return kubeconfig_; }
  const std::string& context() const { return context_; }

  // Empty: all namespaces.
  const std::string& name_space() const { return name_space_; }
  const LabelSelector& selector() const { return selector_; }

  // From here on the command has a time limit of one minute in total. Fails as find_hub does.
  Result<HubClient> connect() const;
  // The same without a time limit, for a command that runs for a long time. Fails as find_hub does.
  Result<HubClient> connect_for_long() const;

 private:
  bool is_used_ = false;
  std::string name_space_;
  LabelSelector selector_;
  std::string kubeconfig_;
  std::string context_;
};

}  // namespace execcred::cli

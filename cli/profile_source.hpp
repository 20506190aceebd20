// SPDX-License-Identifier: Apache-2.0
// Where a command's ClusterProfiles come from: files (-f), or the hub's API (--from-hub).
#pragma once

#include "hub_options.hpp"

#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/profile_files.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// What came of going through a source.
struct Inventory {
  struct Problem {
    Error error = {};
    bool is_of_unknown = false;  // not known which ClusterProfile it is of, if of any
  };

  std::size_t found = 0;  // ClusterProfiles, with those that were refused
  std::vector<Problem> problems = {};
};

// Whether an option --name, [NAMESPACE/]NAME, means it; an empty one means all.
bool is_named(const ClusterProfile& profile, std::string_view name);

using ReceiveProfile = std::function<Status(const ClusterProfile&)>;

class ProfileSource {
 public:
  void add_to(CommandOptions& options);

  // None of its options is given.
  bool is_unused() const { return paths_.empty() && hub_.is_unset(); }
  // --kubeconfig, perhaps with --context, and nothing else: for a command that examines it.
  bool has_kubeconfig_alone() const { return paths_.empty() && hub_.has_kubeconfig_alone(); }
  const std::string& kubeconfig() const { return hub_.kubeconfig(); }
  const std::string& context() const { return hub_.context(); }

  // Fails (configuration) unless there is exactly one source. `asks_hub` where the command asks the
  // hub for other things too.
  Status check(bool asks_hub = false) const;

  const std::vector<std::string>& paths() const { return paths_; }
  const HubOptions& hub() const { return hub_; }

  // One after the other, so that an inventory of any size fits; with a name ([NAMESPACE/]NAME) only
  // those it names. A document that cannot be read, and an error of the receiver, keep no other.
  // Fails where a path that was named cannot be read, or the hub.
  Result<Inventory> for_each(std::string_view name, const ReceiveProfile& receive) const;

  // The same for a caller that also wants those that cannot be read, with their names as far as
  // these are known. From the hub only those of that name; of files all of the namespace and labels
  // that are asked for.
  Status for_each_document(std::string_view name, const ReceiveProfileOrError& receive) const;

  // "'profiles.yaml'" or "the hub", for messages.
  std::string title() const;
  // What to look at where it holds nothing.
  std::string hint() const;

 private:
  std::vector<std::string> paths_;
  HubOptions hub_;
};

}  // namespace execcred::cli

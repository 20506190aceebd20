// SPDX-License-Identifier: Apache-2.0
// Where a command's ClusterProfiles come from: files (-f), or the hub's API (--from-hub).
#pragma once

#include "hub_options.hpp"

#include <execcred/cluster_profile.hpp>
#include <execcred/option_set.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

class ProfileSource {
 public:
  void add_to(OptionSet& options);

  // Fails (configuration) unless there is exactly one source.
  Status check() const;

  // One after the other, so that an inventory of any size fits; with a name ([NAMESPACE/]NAME) only
  // those it names. What cannot be read is received as such.
  Status for_each(std::string_view name, const ReceiveClusterProfile& receive) const;

  // "'profiles.yaml'" or "the hub", for messages.
  std::string title() const;
  // What to look at where it holds nothing.
  std::string hint() const;

 private:
  std::vector<std::string> paths_;
  HubOptions hub_;
};

}  // namespace execcred::cli

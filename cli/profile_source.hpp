// SPDX-License-Identifier: Apache-2.0
// Where a command's ClusterProfiles come from: files (-f), or the hub's API (--from-hub).
#pragma once

#include "hub_options.hpp"

#include <execcred/kube/cluster_profile.hpp>

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

using ReceiveProfile = std::function<Status(const ClusterProfile&)>;

class ProfileSource {
 public:
  void add_to(CommandOptions& options);

  // Fails (configuration) unless there is exactly one source.
  Status check() const;

  // One after the other, so that an inventory of any size fits; with a name ([NAMESPACE/]NAME) only
  // those it names. A document that cannot be read, and an error of the receiver, keep no other.
  // Fails where a path that was named cannot be read, or the hub.
  Result<Inventory> for_each(std::string_view name, const ReceiveProfile& receive) const;

  // "'profiles.yaml'" or "the hub", for messages.
  std::string title() const;
  // What to look at where it holds nothing.
  std::string hint() const;

 private:
  std::vector<std::string> paths_;
  HubOptions hub_;
};

}  // namespace execcred::cli

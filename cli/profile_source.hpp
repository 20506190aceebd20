// SPDX-License-Identifier: Apache-2.0
// Where a command's ClusterProfiles come from: files (-f), or the hub's API (--from-hub).
#pragma once

#include "hub_options.hpp"

#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/profile_files.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// The result of reading a source.
struct Inventory {
  struct Problem {
    Error error = {};
    bool is_of_unknown = false;  // the ClusterProfile is unknown, if it is one
  };

  std::size_t found = 0;  // ClusterProfiles, with those that were refused
  std::vector<Problem> problems = {};
};

// Chooses by values of an option --name, [NAMESPACE/]NAME; without any, all are chosen. A value
// that is a full name chooses that ClusterProfile alone, so that each can be chosen: NAME is the
// full name of one without a namespace. Only when all names have been taken is it known which those
// are.
class NameChoice {
 public:
  explicit NameChoice(const std::vector<std::string>& values);

  bool is_of_all() const { return values_.empty(); }
  // The only value; empty if there is none, or if there are several.
  std::string_view only() const {
    return values_.size() == 1 ? std::string_view(values_.begin()->first) : std::string_view();
  }
  // Whether one of the values is the full name, or the name alone.
  bool take(std::string_view name_space, std::string_view name);
  // The same when all have been taken: without those whose name alone is another's full name.
  bool chooses(std::string_view name_space, std::string_view name) const;
  // Whether the value has chosen any.
  bool has_found(std::string_view value) const;

 private:
  enum class Found { none, by_name, in_full };
  std::map<std::string, Found, std::less<>> values_;
};

using ReceiveProfile = std::function<Status(const ClusterProfile&)>;

class ProfileSource {
 public:
  void add_to(CommandOptions& options);

  // Whether none of the source's options is given.
  bool is_unused() const { return paths_.empty() && hub_.is_unset(); }
  // Whether only --kubeconfig, perhaps with --context, is given: for a command that examines that
  // kubeconfig.
  bool has_kubeconfig_alone() const { return paths_.empty() && hub_.has_kubeconfig_alone(); }
  const std::string& kubeconfig() const { return hub_.kubeconfig(); }
  const std::string& context() const { return hub_.context(); }

  // Fails (configuration) unless there is exactly one source. `asks_hub`: the command uses the hub
  // for other things too, so that --kubeconfig and --context are allowed without --from-hub.
  Status check(bool asks_hub = false) const;

  const std::vector<std::string>& paths() const { return paths_; }
  const HubOptions& hub() const { return hub_; }

  // Reads one ClusterProfile after the other, so that an inventory of any size fits in memory. A
  // document that cannot be read and an error of the receiver become problems, and do not stop the
  // reading. Fails (configuration) if a path that was named cannot be read, and as
  // for_each_profile_of() if the hub cannot be read.
  Result<Inventory> for_each(const ReceiveProfile& receive) const;
  // The same for those that the names choose, which are passed when all have been read.
  Result<Inventory> for_each(NameChoice& names, const ReceiveProfile& receive) const;

  // The same for a caller that also needs the documents that cannot be read, with their names as
  // far as these are known. Of the hub, only those of this name are passed; of files, all with the
  // requested namespace and labels.
  Status for_each_document(std::string_view name, const ReceiveProfileOrError& receive) const;

  // Reads one of paths(), and passes the documents of all namespaces and labels. Fails
  // (configuration) if it cannot be read.
  static Status for_each_document_in(const std::string& path, const ReceiveProfileOrError& receive,
                                     const ReceiveEmptyFile& receive_empty = {});

  // "'profiles.yaml'" or "the hub", for messages.
  std::string title() const;
  // The hint for an error about a source without ClusterProfiles.
  std::string hint() const;

 private:
  std::vector<std::string> paths_;
  HubOptions hub_;
};

}  // namespace execcred::cli

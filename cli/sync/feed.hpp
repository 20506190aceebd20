// SPDX-License-Identifier: Apache-2.0
// The current ClusterProfiles and their changes: from the hub by a watch, from files by reading
// them again.
#pragma once

#include "../profile_source.hpp"

#include <execcred/base/result.hpp>
#include <execcred/hub/watch.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/stop_event.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace execcred::sync {

// The namespace of a ClusterProfile that has none, as in kubectl.
inline constexpr const char* kDefaultNamespace = "default";

struct ListedProfile {
  std::string name_space = {};
  std::string name = {};
  std::string uid = {};  // empty of a file
  Result<ClusterProfile> profile;
};

// The result of reading the inventory, besides the ClusterProfiles.
struct Picture {
  // The receiver got all ClusterProfiles, and not only those that changed.
  bool is_all = false;
  // ClusterProfiles are known. If false, there was no complete list yet, or nothing could be read.
  bool is_known = false;
  // The list is complete and up to date, and every ClusterProfile in it has a name. So a
  // ClusterProfile that is not listed has been deleted.
  bool is_whole = false;
  std::size_t count = 0;  // of ClusterProfiles: of files, only those that could be read
  // Why the inventory, or a path of it, could not be read.
  std::vector<Error> failures = {};
  // The errors of documents that could not be read and have no usable name.
  std::vector<Error> problems = {};
  // Files without content, which their writers may not have finished. Then the list is not whole.
  std::vector<std::string> empty_files = {};
  // The paths that hold no ClusterProfile, if there are others: one may be a folder that is not
  // mounted.
  std::vector<std::string> empty_paths = {};
};

struct FeedReceiver {
  // Gets a ClusterProfile that is new or may have changed.
  std::function<void(const ListedProfile&)> take = {};
  // Gets the "NAMESPACE/NAME" of a ClusterProfile that is gone. Not called if `is_all`.
  std::function<void(const std::string& cluster)> drop = {};
};

class ProfileFeed {
 public:
  ProfileFeed() = default;
  ProfileFeed(const ProfileFeed&) = delete;
  ProfileFeed& operator=(const ProfileFeed&) = delete;
  virtual ~ProfileFeed() = default;

  // Reports what has changed since the last call: everything at the first one, and with `is_anew`.
  virtual Picture read(bool is_anew, const FeedReceiver& receiver) = 0;

  // Calls `on_change`, also from another thread, when something may have changed, until `stop` is
  // requested. `stop` must outlive the feed.
  virtual Status watch(std::function<void()> on_change, const StopEvent& stop) = 0;

  // Whether changes are noticed at once.
  virtual bool is_up() const = 0;
};

// The feed of -f. The folders of the files are watched, and that of the mapping too. `source` must
// outlive the feed.
std::unique_ptr<ProfileFeed> file_feed(const cli::ProfileSource& source, std::string mapping);

// The feed of --from-hub. Nothing is known before watch() is called.
std::unique_ptr<ProfileFeed> hub_feed(HubClient client, const WatchQuery& query);

}  // namespace execcred::sync

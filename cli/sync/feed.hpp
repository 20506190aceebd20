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
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace execcred::sync {

// A ClusterProfile without a namespace is of this one, as for kubectl.
inline constexpr const char* kDefaultNamespace = "default";

struct ListedProfile {
  std::string name_space = {};
  std::string name = {};
  std::string uid = {};  // empty of a file
  Result<ClusterProfile> profile;
};

// The result of a scan of the inventory, beside the ClusterProfiles.
struct Picture {
  // The receiver got all ClusterProfiles, and not only those that changed.
  bool is_all = false;
  // Nothing is known: there was no complete list yet.
  bool is_known = false;
  // Every document was read and is a ClusterProfile, so a missing one has been deleted.
  bool is_whole = false;
  std::size_t count = 0;  // of ClusterProfiles that could be read
  // Why the inventory could not be read.
  std::optional<Error> failure = std::nullopt;
  // Of documents without a name that could not be read.
  std::vector<Error> problems = {};
};

struct FeedReceiver {
  // One that is new or may have changed.
  std::function<void(const ListedProfile&)> take = {};
  // One that is gone; only if the picture is not of all.
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

  // Calls `on_change` from another thread when something may have changed, until `stop`.
  virtual Status watch(std::function<void()> on_change, const StopEvent& stop) = 0;

  // Whether changes are noticed at once.
  virtual bool is_up() const = 0;
};

// Of -f; the folders are watched, and the mapping's too.
std::unique_ptr<ProfileFeed> file_feed(const cli::ProfileSource& source, std::string mapping);

// Of --from-hub. Nothing is known before watch().
std::unique_ptr<ProfileFeed> hub_feed(HubClient client, const WatchQuery& query);

}  // namespace execcred::sync

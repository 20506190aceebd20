// SPDX-License-Identifier: Apache-2.0
// Reads the ClusterProfiles of the hub through its API.
#pragma once

#include <execcred/hub/client.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/label_selector.hpp>

#include <functional>
#include <string>

namespace execcred {

struct ProfileQuery {
  std::string name_space = {};  // empty: all
  LabelSelector selector = {};
  std::string name = {};  // [NAMESPACE/]NAME; empty: all
};

// Receives each object. Its error ends the reading, and is the result.
using ReceiveItem = std::function<Status(ListItem)>;

// Reads the ClusterProfiles that match, in the newest version that the hub serves and
// cluster_profile.hpp knows, in the hub's order, a page at a time. If a name and its namespace are
// known, reads only this object. Fails as HubClient::find() and `receive` do, and (configuration)
// if the hub serves no known version or the name is malformed.
Status for_each_profile_of(HubClient& hub, const ProfileQuery& query, const ReceiveItem& receive);

// The resource for ClusterProfiles of the namespace (empty: all) in the newest version that the hub
// serves and cluster_profile.hpp knows. Fails as for_each_profile_of() does.
Result<HubResource> newest_profiles(HubClient& hub, const std::string& name_space);

// Parses an object of the hub. Fails with the item's problem, and as parse_cluster_profile() does;
// an error has the object's name in its context.
Result<ClusterProfile> parse_profile_of_hub(const ListItem& item);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// The ClusterProfiles of the hub, as its API has them.
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

// An error of the receiver ends the reading, and is the result.
using ReceiveDocument = std::function<Status(json::Value)>;

// In the newest version that the hub serves and cluster_profile.hpp knows, in the hub's order, a
// page at a time; by an exact GET where a name and its namespace are known. Fails as HubClient
// does, and with configuration where the hub serves no such version.
Status for_each_profile_of(HubClient& hub, const ProfileQuery& query,
                           const ReceiveDocument& receive);

// ClusterProfiles of the namespace (empty: all) in the newest version that the hub serves and
// cluster_profile.hpp knows. Fails as for_each_profile_of() does.
Result<HubResource> newest_profiles(HubClient& hub, const std::string& name_space);

// With the object's name in the error's context.
Result<ClusterProfile> parse_profile_of_hub(const json::Value& document);

// "NAMESPACE/NAME", for messages; an invalid part is left out.
std::string full_name_of(const json::Value& object);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// The ClusterProfiles of the hub, as its API has them.
#pragma once

#include "hub_options.hpp"

#include <execcred/json/json.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace execcred::cli {

// An error of its own ends the reading, and is the result.
using ReceiveDocument = std::function<Status(json::Value)>;

// In the newest version that the hub serves and cluster_profile.hpp knows, in the hub's order, a
// page at a time; with a name ([NAMESPACE/]NAME) only those it names, by an exact GET where the
// namespace is known. Fails as HubClient does, and with configuration where the hub serves no such
// version.
Status for_each_profile_of(HubClient& hub, const HubOptions& options, std::string_view name,
                           const ReceiveDocument& receive);

// "NAMESPACE/NAME", for messages; what is no name is left out.
std::string full_name_of(const json::Value& object);

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// The region that a token is signed for, and the region in which STS is called.
#pragma once

#include "options.hpp"
#include "profiles.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>

#include <optional>
#include <string>

namespace execcred::aws {

// The token's region: that of the option (which a ClusterProfile may set) and its variables, else
// the profile's; nullopt if only the instance knows it. `profiles` may be nullptr if the option is
// set. Fails (configuration) if the region is malformed, or if none is known and the instance may
// not be asked.
Result<std::optional<std::string>> known_region(const Options& options, const Profiles* profiles,
                                                const Environment& environment);

// Asks the instance. Fails (configuration) if its region is malformed, and as AwsMetadata::region()
// does.
Result<std::string> region_of_instance(CallContext& call);

// The region for STS: the controller's own region, if it has one in the token's partition. So
// clusters of many regions share a session, and ClusterProfiles do not choose where it is
// requested. Otherwise the token's region. `is_own` is true if --region does not come from a
// ClusterProfile.
Result<std::string> sts_region(const Options& options, bool is_own, const Profiles* profiles,
                               const std::string& token_region, const Environment& environment);

}  // namespace execcred::aws

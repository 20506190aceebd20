// SPDX-License-Identifier: Apache-2.0
// The region that a token is signed for, and the region in which STS is called.
#pragma once

#include "options.hpp"
#include "profiles.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>

#include <optional>
#include <string>

namespace execcred::aws {

// The token's region: that of the option (which a ClusterProfile may set) and its variables, else
// the profile's, else the instance's, which is stored in the cache. `profiles` may be nullptr if
// the option is set. Fails (configuration) if no region is known or it is malformed, and as
// AwsMetadata::region() does.
Result<std::string> token_region(const Options& options, const Profiles* profiles,
                                 const CacheOptions& cache, const CallContext& run);

// The region for STS: the controller's own region, if it has one in the token's partition. So
// clusters of many regions share a session, and ClusterProfiles do not choose where it is
// requested. Otherwise the token's region. `is_own` is true if --region does not come from a
// ClusterProfile.
Result<std::string> sts_region(const Options& options, bool is_own, const Profiles* profiles,
                               const std::string& token_region, const CallContext& run);

}  // namespace execcred::aws

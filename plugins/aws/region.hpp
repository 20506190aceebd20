// SPDX-License-Identifier: Apache-2.0
// Which region a token is signed for, and in which STS is called.
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

// That of the option (which a ClusterProfile may set) and its variables, or the profile's, or the
// instance's, which is kept in the cache. `profiles` may be nullptr where the option has one. Fails
// with configuration where none is known, or one is malformed, and as AwsMetadata::region().
Result<std::string> token_region(const Options& options, const Profiles* profiles,
                                 const CacheOptions& cache, const CallContext& run);

// The controller's own region, if it has one in the token's partition, so that clusters of many
// regions share a session, and ClusterProfiles do not choose where it is requested. Otherwise the
// token's region. `is_own`: --region does not come from a ClusterProfile.
Result<std::string> sts_region(const Options& options, bool is_own, const Profiles* profiles,
                               const std::string& token_region, const CallContext& run);

}  // namespace execcred::aws

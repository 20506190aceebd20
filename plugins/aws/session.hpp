// SPDX-License-Identifier: Apache-2.0
// Gets the credentials of a plan: from its source and through its roles, out of the cache or by new
// requests.
#pragma once

#include "credential_plan.hpp"
#include "endpoint.hpp"

#include <execcred/aws/credentials.hpp>
#include <execcred/aws/metadata.hpp>
#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/inputs.hpp>

#include <optional>
#include <string>

namespace execcred::aws {

// The URL at which STS is called, and the region that requests are signed for.
struct StsTarget {
  std::string url = {};
  std::string region = {};
};

// Reads what determines the session, beside what the plan was made of: the plan's source gets its
// token. Fails if the token's file cannot be read.
Status plan_session(CredentialPlan& plan, Inputs& inputs);

// Requests a new session. The credential's token is the session as JSON.
Result<Issued> new_session(const CredentialPlan& plan, const StsTarget& sts, CallContext& call);

// The identity of the client for the cache (CacheOptions::client). A client asks again when its
// token expires, long before the session does. This does not mean that the session was refused, so
// the identity changes once per token lifetime.
std::optional<std::string> client_of_token(TimePoint now);

// The URLs of the metadata service: AWS_EC2_METADATA_SERVICE_ENDPOINT, or the link-local address of
// the AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE.
AwsMetadataUrls metadata_urls(const Environment& environment);

}  // namespace execcred::aws

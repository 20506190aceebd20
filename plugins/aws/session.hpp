// SPDX-License-Identifier: Apache-2.0
// Gets the credentials that a plan describes: from its source, through its roles, from the cache or
// by new requests.
#pragma once

#include "credential_plan.hpp"
#include "endpoint.hpp"

#include <execcred/aws/credentials.hpp>
#include <execcred/aws/metadata.hpp>
#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/key.hpp>

#include <optional>
#include <string>

namespace execcred::aws {

// Where STS is called.
struct StsTarget {
  std::string url = {};
  std::string region = {};
};

// Every input that determines the session's identity, without secrets. Fails where a token's file
// cannot be read.
Result<CacheKey> session_key(const CredentialPlan& plan, const StsTarget& sts,
                             const Environment& environment);

// Asks for a new session: its JSON is the credential's token.
Result<FreshCredential> new_session(const CredentialPlan& plan, const StsTarget& sts,
                                    CallContext& call);

// The client, for the cache. It asks again when its token ends, long before the session ends. This
// does not mean that the session was refused, so it counts as a request of another client.
std::optional<std::string> client_of_token(TimePoint now);

// AWS_EC2_METADATA_SERVICE_ENDPOINT, or the link-local address of the
// AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE.
AwsMetadataUrls metadata_urls(const Environment& environment);

}  // namespace execcred::aws

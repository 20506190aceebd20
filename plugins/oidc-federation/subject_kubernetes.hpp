// SPDX-License-Identifier: Apache-2.0
// A subject token that the hub makes for one of its service accounts (TokenRequest), only for the
// identity provider's audience.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/cache/key.hpp>

namespace execcred::oidc_federation {

// Adds the hub, with its kubeconfigs or the Pod's own identity, and the requested service account.
Status identify_kubernetes(const Options& options, const Environment& environment, CacheKey& key);

// Without --service-account, the token is for the Pod's own account.
Result<SecretString> request_from_kubernetes(const Options& options, CallContext& call);

}  // namespace execcred::oidc_federation

// SPDX-License-Identifier: Apache-2.0
// A subject token that is a JWT-SVID of this process, from the SPIFFE agent on this machine.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/cache/key.hpp>

namespace execcred::oidc_federation {

// Adds the properties by which the agent distinguishes processes; they represent the identity. The
// agent is not asked.
Status identify_spiffe(const Options& options, CacheKey& key);

Result<SecretString> fetch_spiffe(const Options& options, const CallContext& call);

}  // namespace execcred::oidc_federation

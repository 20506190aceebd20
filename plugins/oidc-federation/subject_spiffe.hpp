// SPDX-License-Identifier: Apache-2.0
// A subject token that is a JWT-SVID of this process, from the SPIFFE agent on this machine.
#pragma once

#include "options.hpp"

#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/exec/provider.hpp>

namespace execcred::oidc_federation {

// The agent is not asked: what it looks at to tell processes apart stands for the identity.
Status identify_spiffe(const Options& options, CacheKey& key);

Result<SecretString> fetch_spiffe(const Options& options, const Services& services,
                                  const ProviderCall& call);

}  // namespace execcred::oidc_federation

// SPDX-License-Identifier: Apache-2.0
// A subject token that another program prints.
#pragma once

#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/sources/token_command.hpp>

namespace execcred::oidc_federation {

// The command, and its environment, which may well decide who it is.
void identify_command(const TokenCommand& command, const Environment& environment, CacheKey& key);

// Fails as run_token_command() does, and (no_credential) where it prints no token.
Result<SecretString> run_subject_command(const TokenCommand& command, const Services& services,
                                         const ProviderCall& call);

}  // namespace execcred::oidc_federation

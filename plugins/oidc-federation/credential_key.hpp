// SPDX-License-Identifier: Apache-2.0
// Whose credential it is, and what for: the cache's key, but for the subject token's part of it.
#pragma once

#include "options.hpp"

#include <execcred/cache/key.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <string>

namespace execcred::oidc_federation {

// Fails (no_credential, configuration) where a token that counts by its identity cannot be read.
Result<CacheKey> credential_key(const Options& options, const ExecInfo& info);

// Whose a credential is, for people: what a JWT says, or else `client`.
std::string identity_of(const Credential& credential, const std::string& client);

}  // namespace execcred::oidc_federation

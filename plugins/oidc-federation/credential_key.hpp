// SPDX-License-Identifier: Apache-2.0
// The cache key: the identity and purpose of the credential, without the subject token's part.
#pragma once

#include "options.hpp"

#include <execcred/cache/key.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <string>

namespace execcred::oidc_federation {

// Fails (no_credential, configuration) if a token whose identity is part of the key cannot be read.
Result<CacheKey> credential_key(const Options& options, const ExecInfo& info);

// The identity of a credential, for people: that of a JWT, or else `client`.
std::string identity_of(const Credential& credential, const std::string& client);

}  // namespace execcred::oidc_federation

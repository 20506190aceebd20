// SPDX-License-Identifier: Apache-2.0
// Whose a token is, for the key under which what was got for it is kept.
#pragma once

#include <execcred/base/secret.hpp>
#include <execcred/cache/key.hpp>

#include <string_view>

namespace execcred {

// Adds issuer, subject and audiences where the token is a JWT that tells the first two, so that a
// renewed token is the same identity; and else the token's fingerprint.
void add_token_identity(std::string_view name, const SecretString& token, CacheKey& key);

}  // namespace execcred

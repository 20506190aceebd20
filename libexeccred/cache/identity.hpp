// SPDX-License-Identifier: Apache-2.0
// Where a plugin runs, for the key under which a credential of that place is kept.
#pragma once

#include <execcred/base/secret.hpp>
#include <execcred/cache/key.hpp>

#include <string_view>

namespace execcred {

// Adds this machine or Pod, by its host name and its node's boot. What a server on its link (a
// metadata service, a container's agent) answers depends on who asks, and a cache may lie on a
// volume that several share, or that follows a Pod to another node.
void identify_machine(CacheKey& key);

// Whose a token is, for the key under which what was got for it is kept.

// Adds issuer, subject and audiences where the token is a JWT that tells the first two, so that a
// renewed token is the same identity; and else the token's fingerprint.
void add_token_identity(std::string_view name, const SecretString& token, CacheKey& key);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// Where a plugin runs, for the cache key of a credential that depends on the place.
#pragma once

#include <execcred/base/secret.hpp>
#include <execcred/cache/key.hpp>

#include <string_view>

namespace execcred {

// Adds this machine or Pod, by its host name and its node's boot. The answer of a link-local server
// (a metadata service, a container's agent) depends on the caller, and a cache may be on a volume
// that several share, or that follows a Pod to another node.
void identify_machine(CacheKey& key);

// The identity of a token, for the cache key of the credential that was obtained with it.

// Adds issuer, subject and audiences of a JWT that has the first two, so that a renewed token is
// the same identity; for any other token, its fingerprint.
void add_token_identity(std::string_view name, const SecretString& token, CacheKey& key);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// Parts of a cache key: the machine that a plugin runs on, and the identity of a token.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/exec/jwt.hpp>

#include <optional>
#include <string_view>

namespace execcred {

// Adds the identity of this machine or Pod: its host name, the boot id of its node, its namespaces
// and mounts. All processes of a Pod have the same identity. The answer of a link-local server (a
// metadata service, a container's agent) depends on the caller, and a cache may be on a volume that
// several machines or Pods share, or that moves to another node with a Pod. A fact that cannot be
// read is left out.
void identify_machine(CacheKey& key);

// Adds what an agent on this machine attests a process by: its user, its groups, its program and
// its cgroup, which identifies the container or the service. Two processes of one user that differ
// in these do not share an entry.
void identify_process(CacheKey& key);

// Adds the identity of a token, for the cache key of the credential that was obtained with it.
// `jwt` is what parse_jwt() returned for it. Adds token_identity() of a JWT that has an issuer and
// a subject, so that a renewed token is the same identity. For any other token, adds its
// fingerprint.
void add_token_identity(std::string_view name, const SecretString& token,
                        const Result<std::optional<Jwt>>& jwt, CacheKey& key);

}  // namespace execcred

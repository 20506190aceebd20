// SPDX-License-Identifier: Apache-2.0
// Where a plugin runs, for the key under which a credential of that place is kept.
#pragma once

#include <execcred/cache/key.hpp>

namespace execcred {

// Adds this machine or Pod, by its host name and its node's boot. What a server on its link (a
// metadata service, a container's agent) answers depends on who asks, and a cache may lie on a
// volume that several share, or that follows a Pod to another node.
void identify_machine(CacheKey& key);

}  // namespace execcred

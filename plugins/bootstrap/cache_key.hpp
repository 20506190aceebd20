// SPDX-License-Identifier: Apache-2.0
// The cache key of the issued credential.
#pragma once

#include "options.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/exec/provider.hpp>

namespace execcred::bootstrap {

// The key contains the request, the cluster, and all inputs that determine the inner plugin's
// identity: its command, the client's whole description of the cluster, and each variable that
// execcred's plugins read. The inner plugin is not run for this.
CacheKey credential_key(const Options& options, const CredentialRequest& request,
                        const Environment& environment);

}  // namespace execcred::bootstrap

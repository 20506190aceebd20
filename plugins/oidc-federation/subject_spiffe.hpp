// SPDX-License-Identifier: Apache-2.0
// A subject token that is a JWT-SVID of this process, from the SPIFFE agent on this machine.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>

namespace execcred::oidc_federation {

Result<SecretString> fetch_spiffe(const Options& options, const CallContext& call);

}  // namespace execcred::oidc_federation

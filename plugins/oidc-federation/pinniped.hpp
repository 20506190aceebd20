// SPDX-License-Identifier: Apache-2.0
// Pinniped's Concierge: an API of the cluster. It exchanges a token that one of its authenticators
// accepts for a credential of the cluster.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/provider.hpp>

namespace execcred::oidc_federation {

// Checks the destination of the subject token: --concierge-endpoint, or else the cluster's own
// server if --allow-server allows it. Fails (configuration).
Status check_concierge_destination(const ConciergeOptions& concierge,
                                   const CredentialRequest& request);

// Creates a TokenCredentialRequest, anonymously. Fails (no_credential) if the Concierge refuses,
// and as HttpClient::send() does.
Result<Credential> ask_concierge(const ConciergeOptions& options, const CredentialRequest& request,
                                 const SecretString& subject, CallContext& call);

}  // namespace execcred::oidc_federation

// SPDX-License-Identifier: Apache-2.0
// Pinniped's Concierge: an API of the cluster that makes a credential for the cluster of a token
// that one of its authenticators accepts.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/provider.hpp>

namespace execcred::oidc_federation {

// Where the subject token goes: --concierge-endpoint, or else the cluster's own server, if
// --allow-server vouches for that. Fails (configuration).
Status check_concierge_destination(const ConciergeOptions& concierge,
                                   const CredentialRequest& request);

// Creates a TokenCredentialRequest, anonymously. Fails with no_credential for what the Concierge
// refuses, else as HttpClient::send.
Result<Credential> ask_concierge(const ConciergeOptions& options, const CredentialRequest& request,
                                 const SecretString& subject, CallContext& call);

}  // namespace execcred::oidc_federation

// SPDX-License-Identifier: Apache-2.0
// The cluster as the server that is asked: spec.cluster, and who we are there.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/hub/client.hpp>

#include <string>

namespace execcred::bootstrap {

// What must be in spec.cluster, so that a credential can be sent there: CA certificates, and no
// word against verifying by them. Nothing of a request without cluster information. Fails
// (configuration).
Status check_can_be_asked(const CredentialRequest& request);

// Of a request that was checked, for one call. Proxies come from spec.cluster alone, where the
// access rules have allowed that. `origin` says for messages where the credential is from. What
// `call` refers to must outlive it.
Result<HubClient> open_cluster(const CredentialRequest& request, const Credential& bootstrap,
                               std::string origin, const CallContext& call);

}  // namespace execcred::bootstrap

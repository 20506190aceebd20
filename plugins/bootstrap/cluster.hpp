// SPDX-License-Identifier: Apache-2.0
// The cluster as a server: spec.cluster, and the identity for it.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/hub/client.hpp>

#include <string>

namespace execcred::bootstrap {

// Checks that a credential can be sent to spec.cluster: it has CA certificates, verification is not
// disabled, and its URL has no query. Fails (configuration).
Status check_can_be_asked(const Cluster& cluster);

// A client of the cluster for one call; the request must have been checked. A proxy comes only from
// spec.cluster, if the access rules allow it. `origin` names the source of the credential in
// messages. The objects that `call` refers to must outlive the client.
Result<HubClient> open_cluster(const CredentialRequest& request, const Credential& bootstrap,
                               std::string origin, const CallContext& call);

}  // namespace execcred::bootstrap

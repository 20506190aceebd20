// SPDX-License-Identifier: Apache-2.0
// The cluster as the server that is asked: spec.cluster, and who we are there.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/hub/client.hpp>

namespace execcred::bootstrap {

// What must be in spec.cluster, so that a credential can be sent there: CA certificates, and no
// word against verifying by them. Nothing of a request without cluster information. Fails
// (configuration).
Status check_can_be_asked(const CredentialRequest& request);

// Of a request that was checked. Proxies come from spec.cluster alone, where the access rules have
// allowed that. `origin` says for messages where the credential is from.
Result<Hub> cluster_of(const CredentialRequest& request, const Credential& bootstrap,
                       std::string origin);

}  // namespace execcred::bootstrap

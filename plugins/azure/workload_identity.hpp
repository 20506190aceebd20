// SPDX-License-Identifier: Apache-2.0
// Workload identity: the token of a Kubernetes service account, as an assertion for the Entra
// application that trusts it. One POST, to the tenant's token endpoint: no discovery, and no
// request to another cloud to validate the authority.
#pragma once

#include "identity.hpp"

namespace execcred::azure {

// Reads the federated token. Fails with configuration (something is not set, or cannot be read), or
// with no_credential (the file holds no JWT, or the ClusterProfile's tenant is not allowed).
Result<std::unique_ptr<Identity>> open_workload_identity(const Options& options,
                                                         const ExecInfo& info,
                                                         const CallContext& run);

}  // namespace execcred::azure

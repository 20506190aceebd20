// SPDX-License-Identifier: Apache-2.0
// Workload identity: the token of a Kubernetes service account is the assertion for the Entra
// application that trusts it. There is one POST, to the tenant's token endpoint: no discovery, and
// no request to another cloud to validate the authority.
#pragma once

#include "options.hpp"

#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/settings.hpp>

namespace execcred::azure {

// Reads the federated token; the result asks for another one with it. `options` must outlive the
// result. Fails (configuration) if something is not set or cannot be read; (no_credential) if the
// file contains no JWT, or the ClusterProfile's tenant is not allowed.
Result<CredentialCache::Ask> open_workload_identity(const Options& options,
                                                    const Settings& settings, Inputs& inputs);

}  // namespace execcred::azure

// SPDX-License-Identifier: Apache-2.0
// Managed identity: the token comes from an endpoint of the platform, over plain http and never
// through a proxy.
//
//   IMDS          http://169.254.169.254/metadata/identity/oauth2/token, or the same path at
//                 AZURE_POD_IDENTITY_AUTHORITY_HOST
//   App Service   IDENTITY_ENDPOINT, with IDENTITY_HEADER as its password; also Functions and
//                 Container Apps
//
// Service Fabric, Azure Arc, Machine Learning and Cloud Shell have other endpoints. These are
// refused with the platform's name.
#pragma once

#include "options.hpp"

#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/inputs.hpp>

namespace execcred::azure {

// What asks for a token. `options` must outlive it. Fails (configuration) if the identity is named
// twice, or if the endpoint cannot be used.
Result<CredentialCache::Ask> open_managed_identity(const Options& options, Inputs& inputs);

}  // namespace execcred::azure

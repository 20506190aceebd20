// SPDX-License-Identifier: Apache-2.0
// The tenant from which a token is requested. It gets the token of the service account, and its
// administrator determines what the returned token is valid for. So the controller decides, and a
// ClusterProfile may only choose among the allowed tenants.
#pragma once

#include "options.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/settings.hpp>

#include <string>

namespace execcred::azure {

// `setting` is that of --tenant-id. Returns the controller's tenant (flag or variable), unless the
// ClusterProfile names another one that
// --allow-tenant allows. Fails (configuration) if there is no tenant, or if the ClusterProfile
// names another one and --allow-tenant is not given; (no_credential) if it is not one of the
// allowed tenants.
Result<std::string> chosen_tenant(const Options& options, const Setting& setting,
                                  const ExecInfo& info, const Environment& environment);

}  // namespace execcred::azure

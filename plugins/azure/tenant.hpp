// SPDX-License-Identifier: Apache-2.0
// The tenant that is asked. It gets the token of the service account, and its administrator
// determines what the returned token is valid for. So the controller decides, and a ClusterProfile
// may only choose among the allowed tenants.
#pragma once

#include "options.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <string>

namespace execcred::azure {

// The controller's tenant (flag or variable), unless the ClusterProfile names another that
// --allow-tenant names too. Fails with configuration if there is none, or no tenant of a
// ClusterProfile is allowed; with no_credential if it is not one of the allowed tenants.
Result<std::string> chosen_tenant(const Options& options, const ExecInfo& info,
                                  const Environment& environment);

}  // namespace execcred::azure

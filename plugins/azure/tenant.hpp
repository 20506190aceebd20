// SPDX-License-Identifier: Apache-2.0
// Which tenant is asked. The token of the service account goes there, and what comes back is good
// for whatever that tenant's administrator makes of it: so the controller decides, and a
// ClusterProfile only among what it allows.
#pragma once

#include "options.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <string>

namespace execcred::azure {

// The controller's tenant (flag or variable), unless the ClusterProfile names another that
// --allow-tenant names too. Fails with configuration where there is none, or the ClusterProfile's
// is not allowed at all; with no_credential where it is none of those allowed.
Result<std::string> chosen_tenant(const Options& options, const ExecInfo& info,
                                  const Environment& environment);

}  // namespace execcred::azure

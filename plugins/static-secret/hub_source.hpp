// SPDX-License-Identifier: Apache-2.0
// Finds the Secret of a plan at the hub.
#pragma once

#include "plan.hpp"

#include <execcred/hub/client.hpp>
#include <execcred/kube/stored_secret.hpp>

namespace execcred::static_secret {

// The Secret that has the name and namespace of the plan, and the type and labels of the convention
// and the options. Fails (no_credential) if there is none or more than one, and as HubClient does.
Result<StoredSecret> find_secret(HubClient& hub, const Plan& plan);

}  // namespace execcred::static_secret

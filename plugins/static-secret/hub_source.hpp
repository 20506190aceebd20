// SPDX-License-Identifier: Apache-2.0
// Finds the Secret of a plan at the hub.
#pragma once

#include "options.hpp"

#include <execcred/hub/client.hpp>
#include <execcred/kube/stored_secret.hpp>

namespace execcred::static_secret {

// The Secret that is meant, and no other: of the asked name and namespace, with the type and
// labels that the convention and the options want. Fails with no_credential where there is none,
// or more than one; else as HubClient does.
Result<StoredSecret> find_secret(HubClient& hub, const Plan& plan, const Options& options);

}  // namespace execcred::static_secret

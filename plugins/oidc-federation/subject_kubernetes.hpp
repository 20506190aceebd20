// SPDX-License-Identifier: Apache-2.0
// A subject token that the hub makes for one of its service accounts (TokenRequest), only for the
// identity provider's audience.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/hub/client.hpp>

namespace execcred::oidc_federation {

// Reads the hub's kubeconfigs, or the Pod's own identity. The hub is not asked; that it cannot be
// found is an error only when it is.
Result<Hub> plan_kubernetes(const Options& options, Inputs& inputs);

// Asks the hub that plan_kubernetes() found. Without --service-account, the token is for the Pod's
// own account.
Result<SecretString> request_from_kubernetes(const Options& options, const Result<Hub>& found,
                                             CallContext& call);

}  // namespace execcred::oidc_federation

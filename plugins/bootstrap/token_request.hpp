// SPDX-License-Identifier: Apache-2.0
// A token of one of the cluster's service accounts.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/hub/client.hpp>

namespace execcred::bootstrap {

// Fails as request_service_account_token() does, and (no_credential) if the token is of another
// account, has expired, or is not valid yet.
Result<Issued> request_token(const Options& options, HubClient& cluster, const CallContext& call);

}  // namespace execcred::bootstrap

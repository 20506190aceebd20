// SPDX-License-Identifier: Apache-2.0
// The replies of STS: a session, or an error with a code.
#pragma once

#include "sts.hpp"

#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>

namespace execcred::aws {

// Judges by the status, and retries a 400 whose code may pass, because STS also uses 400 for
// throttling.
Verdict judge_sts_reply(const HttpRequest& request, const HttpResponse& reply);

}  // namespace execcred::aws

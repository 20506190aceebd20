// SPDX-License-Identifier: Apache-2.0
// What STS answers: a session, or an error with a code.
#pragma once

#include "sts.hpp"

#include <execcred/http/http.hpp>

namespace execcred::aws {

// An error after which the same request may succeed a moment later, by its code.
bool is_passing_sts_error(const HttpResponse& reply);

}  // namespace execcred::aws

// SPDX-License-Identifier: Apache-2.0
// The one retry policy for HTTP.
//
// Sent again: after a failure that is transient (http.hpp), and after 429, 500, 502, 503 and 504.
// Pauses double and are jittered; a Retry-After is waited for in their place where it fits into the
// time that is left, and otherwise ends the attempts. What the last attempt brought is the result,
// so that a refused connection is reported as one and not as a time-out. No attempt starts after
// the call's deadline, and there is one alone where the call may not be tried again here. After a
// transient failure of this machine's there may be four attempts all the same.
//
// The call is told what its beginner must know of the replies (call_context.hpp).
//
// Never sent again: a request that is spent by being sent and was answered, whatever the answer.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/http/http.hpp>

#include <chrono>

namespace execcred {

struct RetryPolicy {
  int attempts = 4;
  Duration first_pause = std::chrono::milliseconds(100);
  Duration longest_pause = std::chrono::seconds(2);
};

Result<HttpResponse> send_with_retries(HttpClient& client, const HttpRequest& request,
                                       CallContext& call, const RetryPolicy& policy = {});

}  // namespace execcred

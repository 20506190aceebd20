// SPDX-License-Identifier: Apache-2.0
// The one retry policy for HTTP.
//
// Sent again: after a failure that is transient (http.hpp), and after 429, 500, 502, 503 and 504.
// Pauses double and are jittered; a Retry-After is waited for in their place where it fits into the
// time that is left, and otherwise ends the attempts. What the last attempt brought is the result,
// so that a refused connection is reported as one and not as a time-out. After a transient failure
// of this machine's there may be four attempts, whatever the policy has.
//
// Never sent again: a request that is spent by being sent and was answered, whatever the answer.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/http/http.hpp>

#include <chrono>
#include <functional>
#include <string_view>

namespace execcred {

struct RetryPolicy {
  int attempts = 4;
  Duration first_pause = std::chrono::milliseconds(100);
  Duration longest_pause = std::chrono::seconds(2);
  // No attempt starts after it.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::function<void(std::string_view)> debug = [](std::string_view) {};
};

Result<HttpResponse> send_with_retries(HttpClient& client, const HttpRequest& request,
                                       const RetryPolicy& policy);

}  // namespace execcred

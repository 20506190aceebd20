// SPDX-License-Identifier: Apache-2.0
// The one retry loop for HTTP.
//
// A judge says of each reply whether it is the result, whether the server may answer otherwise a
// moment later, or why it is a failure. The loop decides whether there is another attempt, and
// when.
//
// A request is sent again after a transient failure (http.hpp), and after a reply that may change
// later. Pauses double and are jittered. A pause that the server asks for replaces them if it fits
// into the remaining time; otherwise it ends the attempts. The result is that of the last attempt,
// so a refused connection is reported as such and not as a time-out. No attempt starts after the
// call's deadline, at which each request ends too. If the call may not be retried here, there is
// one attempt, or up to four after transient failures of this machine.
//
// A request that is spent by being sent and was answered is never sent again, whatever the judge
// says.
//
// Facts about the replies for the caller are recorded in the call (call_context.hpp).
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/http/http.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace execcred {

// A judge's verdict on a reply.
struct Verdict {
  enum class Next {
    accept,  // the reply is the result
    retry,   // the same request may be answered otherwise
    fail,    // the error is the result
  };

  Next next = Next::accept;
  Duration after = {};  // of retry: the pause that the server asks for; 0: the policy's
  // For fail; and for retry, if no attempt follows. A retry without an error ends with the reply.
  std::optional<Error> error = std::nullopt;

  static Verdict accept() { return {}; }
  static Verdict retry(Duration after = {}, std::optional<Error> error = std::nullopt) {
    return {.next = Next::retry, .after = after, .error = std::move(error)};
  }
  static Verdict fail(Error error) { return {.next = Next::fail, .error = std::move(error)}; }
};

using Judge = std::function<Verdict(const HttpRequest&, const HttpResponse&)>;

// By the status alone: 429, 500, 502, 503 and 504 may pass, after their Retry-After. All others are
// accepted; the caller interprets them.
Verdict judge_status(const HttpRequest& request, const HttpResponse& reply);

// For a caller that has read the failure from the reply: retry if it is transient, or else fail. A
// Retry-After counts with the statuses that judge_status() takes it from.
Verdict judge_failure(Error failure, const HttpResponse& reply);

struct RetryPolicy {
  int attempts = 4;
  Duration first_pause = std::chrono::milliseconds(100);
  Duration longest_pause = std::chrono::seconds(2);
  Judge judge = judge_status;
  // Makes the parts that may be sent only once, before each attempt. Its failure is one of this
  // machine.
  std::function<Status(HttpRequest&)> renew = {};
  // When requested, ends the pauses, and no attempt follows. Null: nothing does.
  const StopEvent* stop = nullptr;
};

Result<HttpResponse> send_with_retries(HttpClient& client, HttpRequest request, CallContext& call,
                                       const RetryPolicy& policy = {});

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// The one retry loop for HTTP.
//
// For each reply, a judge decides whether it is the result, whether the server may answer
// differently a moment later, or with which error the request fails. The loop decides whether and
// when there is another attempt.
//
// A request is sent again after a transient failure (http.hpp), and after a reply that may change
// later. Pauses double and are jittered. A pause that the server asks for replaces them if it fits
// into the remaining time; otherwise it ends the attempts. The result is that of the last attempt,
// so a refused connection is reported as such and not as a time-out. No further attempt starts
// after the call's deadline, at which each request ends too. If the call must not be retried here
// (CallContext::may_retry), there is one attempt, or up to four after transient failures of this
// machine.
//
// A request that is spent by being sent is never sent again once it was answered, whatever the
// judge decides.
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
  // The error of `fail`. For `retry`: the result if no attempt follows; without it, the reply is
  // the result.
  std::optional<Error> error = std::nullopt;

  static Verdict accept() { return {}; }
  static Verdict retry(Duration after = {}, std::optional<Error> error = std::nullopt) {
    return {.next = Next::retry, .after = after, .error = std::move(error)};
  }
  static Verdict fail(Error error) { return {.next = Next::fail, .error = std::move(error)}; }
};

using Judge = std::function<Verdict(const HttpRequest&, const HttpResponse&)>;

// Whether the server may answer otherwise later: 408, 425, 429 and 5xx. With the other 5xx than
// judge_status() retries, that is not a matter of moments.
bool is_passing_status(int status);

// Judges by the status only. 408, 425, 429, 500, 502, 503 and 504 are retried, after the pause of
// their Retry-After if there is one. All other statuses are accepted; the caller interprets them.
Verdict judge_status(const HttpRequest& request, const HttpResponse& reply);

// For a judge that has read `failure` from the reply: retries if it is transient, else fails. The
// reply's Retry-After is used only with the statuses that judge_status() retries.
Verdict judge_failure(Error failure, const HttpResponse& reply);

struct RetryPolicy {
  int attempts = 4;
  Duration first_pause = std::chrono::milliseconds(100);
  Duration longest_pause = std::chrono::seconds(2);
  Judge judge = judge_status;
  // Called before each attempt, to make the parts of the request that may be sent only once. Its
  // failure is marked as one of this machine (is_local).
  std::function<Status(HttpRequest&)> renew = {};
  // An event that ends a pause at once; no attempt follows. It must outlive the calls. Null if
  // nothing ends the pauses early.
  const StopEvent* stop = nullptr;
};

Result<HttpResponse> send_with_retries(HttpClient& client, HttpRequest request, CallContext& call,
                                       const RetryPolicy& policy = {});

}  // namespace execcred

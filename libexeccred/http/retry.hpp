// SPDX-License-Identifier: Apache-2.0
// The one retry loop for HTTP.
//
// A judge says of each reply whether it is the result, whether the server may answer otherwise a
// moment later, or why it is a failure. The loop decides whether there is another attempt, and
// when.
//
// Sent again: after a failure that is transient (http.hpp), and after a reply that may be another
// one later. Pauses double and are jittered; one that the server wishes for is waited in their
// place where it fits into the time that is left, and otherwise ends the attempts. What the last
// attempt brought is the result, so that a refused connection is reported as one and not as a
// time-out. No attempt starts after the call's deadline, where also each request ends, and there is
// one alone where the call may not be tried again here. After a transient failure of this machine's
// there may be four attempts all the same.
//
// Never sent again: a request that is spent by being sent and was answered, whatever the judge
// says.
//
// What the beginner of the call must know of the replies is recorded in the call
// (call_context.hpp).
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

// What a judge makes of a reply.
struct Verdict {
  enum class Next {
    accept,  // the reply is the result
    retry,   // the same request may be answered otherwise
    fail,    // the error is the result
  };

  Next next = Next::accept;
  Duration after = {};  // of retry: the pause that the server wishes for; 0: the policy's
  // Of fail; and of retry, where no attempt follows. A retry without one ends with the reply.
  std::optional<Error> error = std::nullopt;

  static Verdict accept() { return {}; }
  static Verdict retry(Duration after = {}, std::optional<Error> error = std::nullopt) {
    return {.next = Next::retry, .after = after, .error = std::move(error)};
  }
  static Verdict fail(Error error) { return {.next = Next::fail, .error = std::move(error)}; }
};

using Judge = std::function<Verdict(const HttpRequest&, const HttpResponse&)>;

// By the status alone: 429, 500, 502, 503 and 504 may pass, after their Retry-After. All others are
// accepted, for the caller to say what they mean.
Verdict judge_status(const HttpRequest& request, const HttpResponse& reply);

// For one who has read from the reply what failed: retry where that is transient, else fail. A
// Retry-After counts with the statuses that judge_status() takes it from.
Verdict judge_failure(Error failure, const HttpResponse& reply);

struct RetryPolicy {
  int attempts = 4;
  Duration first_pause = std::chrono::milliseconds(100);
  Duration longest_pause = std::chrono::seconds(2);
  Judge judge = judge_status;
  // Makes anew, before each attempt, what may be sent once only. Its failure is this machine's.
  std::function<Status(HttpRequest&)> renew = {};
  // Ends the pauses where it is requested: no attempt follows. Null: nothing does.
  const StopEvent* stop = nullptr;
};

Result<HttpResponse> send_with_retries(HttpClient& client, HttpRequest request, CallContext& call,
                                       const RetryPolicy& policy = {});

}  // namespace execcred

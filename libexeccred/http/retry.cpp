// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/retry.hpp>

#include <execcred/base/pause.hpp>
#include <execcred/base/url.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace execcred {
namespace {

using std::chrono::steady_clock;

bool is_passing_status(int status) {
  constexpr std::array<int, 5> kPassing = {429, 500, 502, 503, 504};
  return std::find(kPassing.begin(), kPassing.end(), status) != kPassing.end();
}

bool may_pass(const Result<HttpResponse>& result) {
  return result ? is_passing_status(result->status) : result.error().is_transient;
}

// What fails on this machine before anything is sent costs nobody a call, so that also those who
// may make only one try again.
int attempts_after(const Result<HttpResponse>& result, const CallContext& call,
                   const RetryPolicy& policy) {
  constexpr int kLocalAttempts = 4;
  const int attempts = call.may_retry ? policy.attempts : 1;
  const bool is_local = !result && result.error().is_local;
  return is_local ? std::max(attempts, kLocalAttempts) : attempts;
}

std::string outcome(const Result<HttpResponse>& result) {
  return result ? "answered " + std::to_string(result->status) : result.error().message;
}

void note(const HttpRequest& request, const Result<HttpResponse>& result, CallContext& call) {
  call.last_status = result ? result->status : 0;
  if (!result) return;
  if (request.is_spent_by_sending) call.is_spent = true;
  const bool is_failure = result->status >= 300;
  if (is_failure && result->retry_after > Duration(0)) call.retry_after = result->retry_after;
}

std::string target_of(const HttpRequest& request) {
  const Result<Url> url = parse_url(request.url);
  return url ? origin_of(*url) : std::string("the server");
}

}  // namespace

Result<HttpResponse> send_with_retries(HttpClient& client, const HttpRequest& request,
                                       CallContext& call, const RetryPolicy& policy) {
  Duration pause = policy.first_pause;
  for (int attempt = 1;; ++attempt) {
    Result<HttpResponse> result = client.send(request);
    note(request, result, call);
    const int attempts = attempts_after(result, call, policy);
    const std::string told = request.method + " " + target_of(request) + ", attempt " +
                             std::to_string(attempt) + " of " + std::to_string(attempts) + ": " +
                             outcome(result);
    // Its transient errors are those of requests that were not sent.
    const bool is_spent = request.is_spent_by_sending && result.has_value();
    if (is_spent || !may_pass(result) || attempt >= attempts) {
      call.debug(told);
      return result;
    }
    const bool is_asked = result && result->retry_after > Duration(0);
    const Duration wait = is_asked ? Duration(result->retry_after) : jittered(pause);
    const Duration left = call.deadline - steady_clock::now();
    if (wait >= left) {
      call.debug(told + "; no time is left to wait " + format_duration(wait));
      return result;
    }
    call.debug(told + "; again in " + format_duration(wait));
    pause_for(wait);
    if (steady_clock::now() >= call.deadline) return result;  // overslept
    pause = std::min(2 * pause, policy.longest_pause);
  }
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/retry.hpp>

#include <execcred/base/pause.hpp>
#include <execcred/base/url.hpp>
#include <execcred/os/stop_event.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace execcred {
namespace {

using std::chrono::steady_clock;

bool is_retried_status(int status) {
  constexpr std::array<int, 7> kRetried = {408, 425, 429, 500, 502, 503, 504};
  return std::find(kRetried.begin(), kRetried.end(), status) != kRetried.end();
}

struct Attempt {
  Result<HttpResponse> result;
  bool may_pass = false;
  Duration after = {};       // 0: the policy's pause
  std::string outcome = {};  // for the debug log
};

Attempt failed(Error error) {
  Attempt attempt = {.result = Error(), .may_pass = error.is_transient, .outcome = error.message};
  attempt.result = std::move(error);
  return attempt;
}

// The status, or the judge's finding if the status does not explain the next step.
std::string outcome_of(const HttpResponse& reply, const Verdict& verdict) {
  const bool is_retried = verdict.next == Verdict::Next::retry;
  const bool is_explained = is_retried == is_retried_status(reply.status);
  return is_explained || !verdict.error ? "answered " + std::to_string(reply.status)
                                        : verdict.error->message;
}

// Records what the request contains that no message may show, because the server may repeat it. A
// shorter header is no secret: a custom one may have a word such as "true".
void note_secrets(const HttpRequest& request, KnownSecrets& secrets) {
  constexpr std::size_t kShortestHeader = 8;
  for (const HttpHeader& header : request.headers) {
    if (!header.is_secret || header.value.size() < kShortestHeader) continue;
    const std::string_view value = header.value.reveal();
    secrets.add(SecretString(value.substr(value.find(' ') + 1)));  // without "Basic "
  }
  secrets.add(request.secrets);
}

void note(const HttpRequest& request, const Result<HttpResponse>& result, CallContext& call) {
  CallOutcome& outcome = *call.outcome;
  outcome.last_status = result ? result->status : 0;
  const bool may_have_arrived = result || !result.error().is_transient;
  if (request.is_spent_by_sending && may_have_arrived && call.notes != nullptr) {
    call.notes->is_spent = true;
  }
  if (!result) return;
  if (request.is_spent_by_sending) outcome.is_spent = true;
  if (result->status < 300) return;
  outcome.retry_after.reset();
  if (result->retry_after > Duration(0)) outcome.retry_after = result->retry_after;
}

// If a request that is spent by being sent has a transient error, nothing of it was sent
// (http.hpp).
Attempt try_once(HttpClient& client, HttpRequest& request, CallContext& call,
                 const RetryPolicy& policy) {
  if (policy.renew) {
    Status renewed = policy.renew(request);
    if (!renewed) {
      renewed.error().is_local = true;
      return failed(std::move(renewed).error());
    }
  }
  note_secrets(request, call.outcome->secrets);
  Result<HttpResponse> reply = client.send(request);
  note(request, reply, call);
  if (!reply) return failed(std::move(reply).error());
  Verdict verdict = policy.judge(request, *reply);
  if (verdict.error) verdict.error = call.outcome->secrets.redacted(*std::move(verdict.error));
  const bool is_spent = request.is_spent_by_sending;
  Attempt attempt = {.result = Error(),
                     .may_pass = verdict.next == Verdict::Next::retry && !is_spent,
                     .after = verdict.after,
                     .outcome = outcome_of(*reply, verdict)};
  if (!verdict.error) {
    attempt.result = std::move(reply);
  } else {
    attempt.result = is_spent ? spent(*std::move(verdict.error)) : *std::move(verdict.error);
  }
  return attempt;
}

// A failure of this machine says nothing about the provider, so even a call with a single attempt
// tries again.
int attempts_after(const Result<HttpResponse>& result, const CallContext& call,
                   const RetryPolicy& policy) {
  constexpr int kLocalAttempts = 4;
  const int attempts = call.may_retry ? policy.attempts : 1;
  const bool is_local = !result && result.error().is_local;
  return is_local ? std::max(attempts, kLocalAttempts) : attempts;
}

// Returns false if the pause was stopped: no attempt may follow.
bool pause_unless_stopped(Duration pause, const StopEvent* stop) {
  if (stop != nullptr) return !stop->wait_until(steady_clock::now() + pause);
  pause_for(pause);
  return true;
}

std::string target_of(const HttpRequest& request) {
  const Result<Url> url = parse_url(request.url);
  return url ? origin_of(*url) : std::string("the server");
}

}  // namespace

bool is_passing_status(int status) {
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

Verdict judge_status(const HttpRequest& /*request*/, const HttpResponse& reply) {
  return is_retried_status(reply.status) ? Verdict::retry(reply.retry_after) : Verdict::accept();
}

Verdict judge_failure(Error failure, const HttpResponse& reply) {
  if (!failure.is_transient) return Verdict::fail(std::move(failure));
  const Duration after = is_retried_status(reply.status) ? Duration(reply.retry_after) : Duration();
  return Verdict::retry(after, std::move(failure));
}

Result<HttpResponse> send_with_retries(HttpClient& client, HttpRequest request, CallContext& call,
                                       const RetryPolicy& policy) {
  Duration pause = policy.first_pause;
  request.deadline = std::min(request.deadline, call.deadline);
  for (int count = 1;; ++count) {
    Attempt attempt = try_once(client, request, call, policy);
    const int attempts = attempts_after(attempt.result, call, policy);
    const std::string attempted = request.method + " " + target_of(request) + ", attempt " +
                                  std::to_string(count) + " of " + std::to_string(attempts) + ": " +
                                  attempt.outcome;
    if (!attempt.may_pass || count >= attempts) {
      call.debug(attempted);
      return std::move(attempt.result);
    }
    const Duration wait = attempt.after > Duration(0) ? attempt.after : jittered(pause);
    const Duration left = call.deadline - steady_clock::now();
    if (wait >= left) {
      call.debug(attempted + "; no time is left to wait " + format_duration(wait));
      return std::move(attempt.result);
    }
    call.debug(attempted + "; again in " + format_duration(wait));
    if (!pause_unless_stopped(wait, policy.stop)) return std::move(attempt.result);
    if (steady_clock::now() >= call.deadline) return std::move(attempt.result);  // overslept
    pause = std::min(2 * pause, policy.longest_pause);
  }
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/token_post.hpp>

#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

Status fill(const TokenPost& post, HttpRequest& request) {
  request.headers.clear();
  request.add_header("Content-Type", kFormType);
  request.add_header("Accept", "application/json");
  request.set_form(TRY(post.make_form(request)));
  for (const SecretString& secret : post.secrets) request.secrets.push_back(secret.copy());
  return {};
}

Status keep_refresh_token(const HttpResponse& reply, const KeepRefreshToken& keep) {
  if (!keep) return {};
  const SecretString token = TRY(refresh_token_of(reply));
  return token.empty() ? Status() : keep(token);
}

}  // namespace

Verdict judge_oauth_reply(const HttpResponse& reply, const std::string& server) {
  std::optional<Error> failure = oauth_failure(reply, server);
  if (!failure) return Verdict::accept();
  Verdict verdict = judge_failure(*std::move(failure), reply);
  // A server error whose status is not one of those that may pass is not retried.
  const bool is_lasting_fault =
      reply.status >= 500 && judge_status({}, reply).next == Verdict::Next::accept;
  if (is_lasting_fault) verdict.next = Verdict::Next::fail;
  return verdict;
}

Result<TokenReply> post_for_token(HttpClient& client, const TokenPost& post, CallContext& call,
                                  RetryPolicy policy) {
  const Result<Url> url = parse_url(post.url);
  if (!url || url->scheme != "https") {
    return Error::configuration("the token URL " + redacted_url(post.url) + " " +
                                (url ? "is no https URL" : url.error().message));
  }
  const std::string server = origin_of(*url);
  TimePoint sent = {};  // the last attempt
  policy.renew = [&](HttpRequest& request) {
    sent = call.clock.now();
    return fill(post, request);
  };
  policy.judge = [&](const HttpRequest& /*request*/, const HttpResponse& reply) {
    Status kept = keep_refresh_token(reply, post.keep_refresh_token);
    if (kept) return post.judge(reply, server);
    return Verdict::fail(std::move(kept).context("reading the reply of " + server).error());
  };
  const HttpResponse reply = TRY(send_with_retries(
      client, {.method = "POST", .url = post.url, .is_spent_by_sending = post.is_spent_by_sending},
      call, policy));
  // `expires_in` counts from when the server made the reply, which is after `sent`. The clock may
  // have been set back since.
  return parse_token_reply(
      reply, {.token = post.token, .now = std::min(sent, call.clock.now()), .server = server});
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// POSTs a form with any content to a token endpoint, for servers whose requests token_request.hpp
// does not support.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/clock.hpp>
#include <execcred/base/form.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/failure.hpp>
#include <execcred/oauth/token_reply.hpp>

#include <functional>
#include <string>
#include <vector>

namespace execcred {

// Judges a reply by oauth_failure(): a permanent error is final, whatever its status, and an error
// that may pass is retried, except with a 5xx that judge_status() accepts. `server` is the server's
// origin.
Verdict judge_oauth_reply(const HttpResponse& reply, const std::string& server);

// Stores the refresh token of a reply, which is not empty.
using KeepRefreshToken = std::function<Status(const SecretString&)>;

struct TokenPost {
  std::string url = {};  // https
  // Makes a new form for each attempt, because servers refuse an assertion that they have seen
  // before. It may add headers to the request.
  std::function<Result<Form>(HttpRequest&)> make_form = {};
  // Another judge may be set for a server whose replies say more than OAuth 2.0 defines.
  std::function<Verdict(const HttpResponse& reply, const std::string& server)> judge =
      judge_oauth_reply;
  // Further secrets that a server may repeat, besides the form's secret fields and the
  // Authorization header.
  SecretTexts secrets = {};
  // The form contains something that a server accepts only once, and make_form does not make that
  // again for each attempt.
  bool is_spent_by_sending = false;
  ReplyToken token = ReplyToken::access_token;
  // Called with the refresh token of each reply, before the rest of the reply is judged.
  KeepRefreshToken keep_refresh_token = {};
};

// Sends the form by the retry policy, with the judge and the form of `post`. Fails as http.hpp and
// token_reply.hpp describe, as the judge and keep_refresh_token do, and (configuration) if the URL
// is not https. A failure of make_form is marked as local.
Result<TokenReply> post_for_token(HttpClient& client, const TokenPost& post, CallContext& call,
                                  RetryPolicy policy = {});

}  // namespace execcred

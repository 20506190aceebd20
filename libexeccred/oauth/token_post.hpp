// SPDX-License-Identifier: Apache-2.0
// POSTs a form with any content to a token endpoint: for servers whose requests token_request.hpp
// does not make.
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

// Uses oauth_failure(): a permanent error is final whatever its status, and one that may pass is
// not. `server` is the origin, `secrets` may not be shown.
Verdict judge_oauth_reply(const HttpResponse& reply, const std::string& server,
                          const SecretTexts& secrets);

struct TokenPost {
  std::string url = {};  // https
  // Makes a new form for each attempt, because servers refuse an assertion that they have seen; may
  // add headers to the request.
  std::function<Result<Form>(HttpRequest&)> make_form = {};
  // For a server whose replies say more than OAuth 2.0 does.
  std::function<Verdict(const HttpResponse& reply, const std::string& server,
                        const SecretTexts& secrets)>
      judge = judge_oauth_reply;
  // Further secrets that a server may repeat, besides the form's secret fields and the
  // Authorization header.
  std::vector<SecretString> secrets = {};
  // The form contains something that a server accepts only once, and that is not made again for
  // each attempt.
  bool is_spent_by_sending = false;
  ReplyToken token = ReplyToken::access_token;
};

// By the retry policy, with its own judge and form. Besides the failures of http.hpp and
// token_reply.hpp: fails with configuration for a URL that is not https, and as the judge does. A
// form that cannot be made is a local failure.
Result<TokenReply> post_for_token(HttpClient& client, const TokenPost& post, CallContext& call,
                                  RetryPolicy policy = {});

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// POSTing a form to a token endpoint, whatever the form says: for servers whose requests
// token_request.hpp does not make.
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

// By what oauth_failure() says: an error that no repetition changes is final whatever its status,
// and one that may pass is not. `server` is the origin, `secrets` may not be shown.
Verdict judge_oauth_reply(const HttpResponse& reply, const std::string& server,
                          const SecretTexts& secrets);

struct TokenPost {
  std::string url = {};  // https
  // Makes the form anew for each attempt, because servers refuse an assertion that they have seen;
  // may add headers to the request.
  std::function<Result<Form>(HttpRequest&)> make_form = {};
  // For a server whose replies say more than OAuth 2.0 does.
  std::function<Verdict(const HttpResponse& reply, const std::string& server,
                        const SecretTexts& secrets)>
      judge = judge_oauth_reply;
  // What a server may not be seen to repeat, besides the form's secret fields and what stands in an
  // Authorization header.
  std::vector<SecretString> secrets = {};
  // The form holds what a server takes only once, and what is not made anew for each attempt.
  bool is_spent_by_sending = false;
  ReplyToken token = ReplyToken::access_token;
};

// By the retry policy, but for what it judges and renews. Beyond what http.hpp and token_reply.hpp
// say: fails with configuration for a URL that is not https, and as the judge does. A form that
// cannot be made is a local failure.
Result<TokenReply> post_for_token(HttpClient& client, const TokenPost& post, CallContext& call,
                                  RetryPolicy policy = {});

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// What a token endpoint answers (RFC 6749 section 5, RFC 8693 section 2.2).
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/http/http.hpp>

#include <optional>
#include <string>
#include <vector>

namespace execcred {

// Which of the reply's tokens becomes the credential.
enum class ReplyToken { access_token, id_token };

struct TokenReply {
  SecretString token = {};
  std::optional<TimePoint> expires_at = {};  // nullopt: its end is unknown
  SecretString refresh_token = {};           // empty: the used one stays valid
  std::string issued_token_type = {};
};

struct TokenReplyRules {
  ReplyToken token = ReplyToken::access_token;
  TimePoint now = {};
  std::string server = {};                 // its origin, for messages
  std::vector<SecretString> secrets = {};  // what was sent and may not be shown
};

// An access token ends at the earlier of `expires_in` (a number, or a string with one) and its own
// `exp`, if it is a JWT; an id_token must be a JWT and ends at its own `exp`. Both are limited to
// 24 hours. `token_type` may be missing, "Bearer" or "N_A", in any case.
//
// Fails with no_credential, or with unavailable for what may pass (429, 5xx,
// temporarily_unavailable, slow_down, server_error), which is transient. Messages show `error` and
// `error_description`, cleaned and cut, and no token.
Result<TokenReply> parse_token_reply(const HttpResponse& reply, const TokenReplyRules& rules);

}  // namespace execcred

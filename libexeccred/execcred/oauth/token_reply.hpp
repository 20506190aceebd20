// SPDX-License-Identifier: Apache-2.0
// The reply of a token endpoint (RFC 6749 section 5, RFC 8693 section 2.2).
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/http/http.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace execcred {

// A later end of a credential is not believed.
inline constexpr std::chrono::hours kLongestLifetime(24);

// Which token of the reply becomes the credential.
enum class ReplyToken { access_token, id_token };

struct TokenReply {
  SecretString token = {};
  std::optional<TimePoint> expires_at = {};  // nullopt: its end is unknown
  SecretString refresh_token = {};           // empty: the used one stays valid
  std::string issued_token_type = {};
};

// Stores the refresh token of a reply, which is not empty.
using KeepRefreshToken = std::function<Status(const SecretString&)>;

struct TokenReplyRules {
  ReplyToken token = ReplyToken::access_token;
  TimePoint now = {};
  std::string server = {};                 // its origin, for messages
  std::vector<SecretString> secrets = {};  // what was sent and may not be shown
  // Called before the rest of the reply is checked: the refresh token that was sent may be invalid
  // now, even if this reply's token cannot be used.
  KeepRefreshToken keep_refresh_token = {};
};

// An access token expires at the earlier of `expires_in` (a number, or a string with one) and its
// own `exp`, if it is a JWT. An id_token must be a JWT and expires at its own `exp`. Both are
// limited to 24 hours. `token_type` may be missing, "Bearer" or "N_A", in any case.
//
// Fails (unavailable, transient) for an error that may pass: 429, 5xx, temporarily_unavailable,
// slow_down, server_error. Fails as keep_refresh_token does. All other failures are no_credential.
// Messages show `error` and `error_description`, printable and cut, and no token.
Result<TokenReply> parse_token_reply(const HttpResponse& reply, const TokenReplyRules& rules);

}  // namespace execcred

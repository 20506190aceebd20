// SPDX-License-Identifier: Apache-2.0
// The reply of a token endpoint (RFC 6749 section 5, RFC 8693 section 2.2).
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/http/http.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace execcred {

// A later end of a credential is not believed.
inline constexpr std::chrono::hours kLongestLifetime(24);

// Which token of the reply becomes the credential.
enum class ReplyToken { access_token, id_token };

struct TokenReply {
  SecretString token = {};
  std::optional<TimePoint> expires_at = {};  // nullopt: its end is unknown
  std::string issued_token_type = {};
};

struct TokenReplyRules {
  ReplyToken token = ReplyToken::access_token;
  TimePoint now = {};
  std::string server = {};  // its origin, for messages
};

// An access token expires at the earlier of `expires_in` (a number, or a string with one) and its
// own `exp`, if it is a JWT. An id_token must be a JWT and expires at its own `exp`. Both are
// limited to 24 hours. `token_type` may be missing, "Bearer" or "N_A", in any case.
//
// Fails (unavailable, transient) for an error that may pass: is_passing_status(),
// temporarily_unavailable, slow_down, server_error. All other failures are no_credential.
// Messages show `error` and `error_description`, printable and cut, and no token.
Result<TokenReply> parse_token_reply(const HttpResponse& reply, const TokenReplyRules& rules);

// The refresh token in a 2xx reply, whatever else the reply says: the one that was sent may be
// invalid now. Empty if there is none. Fails (no_credential) if it is not a string, or has a byte
// that no token may hold.
Result<SecretString> refresh_token_of(const HttpResponse& reply);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// What tests of token replies share.
#pragma once

#include "support/jwt.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/rfc3339.hpp>
#include <execcred/oauth/token_reply.hpp>

#include <chrono>
#include <string>

namespace execcred::test {

inline const TimePoint kNow = *parse_rfc3339("2026-07-01T12:00:00Z");

inline TokenReplyRules rules(ReplyToken token = ReplyToken::access_token) {
  return {.token = token, .now = kNow, .server = "https://idp.example:443"};
}

inline Result<TokenReply> read_status(int status, const std::string& body) {
  return parse_token_reply({.status = status, .body = SecretString(body)}, rules());
}

inline Result<TokenReply> read(const std::string& body,
                               ReplyToken token = ReplyToken::access_token) {
  return parse_token_reply({.status = 200, .body = SecretString(body)}, rules(token));
}

inline std::string jwt_ending(TimePoint end) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(end).time_since_epoch().count();
  return jwt(R"({"exp":)" + std::to_string(seconds) + "}");
}

}  // namespace execcred::test

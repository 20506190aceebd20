// SPDX-License-Identifier: Apache-2.0
// The reply of a token endpoint; the input is "STATUS BODY". An accepted token is one word that
// ends within a day. No message shows the token that was sent.
#include "error_text.hpp"
#include "fuzz.hpp"

#include <execcred/base/known_secrets.hpp>
#include <execcred/base/text.hpp>
#include <execcred/oauth/token_reply.hpp>

#include <nlohmann/json.hpp>
#include <string>

namespace execcred::fuzz {
namespace {

constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1'782'907'200));  // 2026-07-01
constexpr std::string_view kSent = "subject-token-that-was-sent";

void check_token(const TokenReply& reply, const std::string& body, const char* name) {
  const nlohmann::json theirs = nlohmann::json::parse(body, nullptr, false);
  // Unread members may contain numbers that no double can hold.
  if (!theirs.is_discarded()) {
    require(theirs.is_object() && theirs.contains(name) && theirs[name].is_string(), "a member");
    require(reply.token.reveal() == theirs[name].get<std::string>(), "the token of the member");
    require(!theirs.contains("error") || theirs["error"].is_null(), "no success with an error");
  }
  require(!reply.token.empty() && is_visible_ascii(reply.token.reveal()), "one word");
  require(!has_control_character(reply.issued_token_type), "no control character");
  if (!reply.expires_at) return;
  require(*reply.expires_at > kNow, "a token that has not ended");
  require(*reply.expires_at <= kNow + std::chrono::hours(24), "believed for a day at most");
}

void check_reply(int status, const std::string& body, ReplyToken token) {
  const TokenReplyRules rules = {.token = token, .now = kNow, .server = "https://idp.example:443"};
  KnownSecrets secrets;
  secrets.add(SecretString(kSent));
  const Result<TokenReply> reply =
      secrets.redacted(parse_token_reply({.status = status, .body = SecretString(body)}, rules));
  if (reply) {
    require(status == 200, "a success is a 200");
    check_token(*reply, body, token == ReplyToken::id_token ? "id_token" : "access_token");
    return;
  }
  const std::string text = text_of(reply.error());
  require(reply.error().is_transient == (reply.error().kind == Error::Kind::unavailable),
          "what is unavailable may pass");
  require(reply.error().is_transient || reply.error().kind == Error::Kind::no_credential,
          "the other side is at fault");
  require(text.size() < 2500, "a short message");
  require(text.find(kSent.substr(0, 12)) == std::string::npos, "nothing of what was sent");
}

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> halves = parts(input, " ", 2);
  const int status = 100 + static_cast<int>((number_from(halves[0]) & INT64_MAX) % 500);
  const std::string body(halves[1]);
  for (const ReplyToken token : {ReplyToken::access_token, ReplyToken::id_token}) {
    check_reply(200, body, token);
    check_reply(status, body, token);
  }
}

}  // namespace execcred::fuzz

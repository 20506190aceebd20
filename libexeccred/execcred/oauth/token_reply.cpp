// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/token_reply.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/oauth/failure.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace execcred {
namespace {

using std::chrono::seconds;

constexpr std::size_t kMaxType = 60;  // of a type that is shown

// Null and "" count as absent.
Result<SecretString> secret_member(const json::Value& document, std::string_view name) {
  const json::Value* value = document.find(name);
  if (value == nullptr || value->is_null()) return SecretString();
  const std::string* text = value->string();
  if (text == nullptr) {
    return Error::no_credential("the reply's " + in_quotes(name) + " is " +
                                std::string(value->kind()) + ", not a string");
  }
  if (!is_visible_ascii(*text)) {
    return Error::no_credential("the reply's " + in_quotes(name) +
                                " has a byte that no token may hold");
  }
  return SecretString(*text);
}

Result<std::string> text_member(const json::Value& document, std::string_view name) {
  const json::ObjectReader reader = TRY(json::ObjectReader::open(document, ""));
  Result<std::optional<std::string>> text = reader.optional_string(name);
  if (!text) return Error::no_credential("the reply's " + text.error().message);
  return std::move(*text).value_or("");
}

Status check_token_type(const json::Value& document) {
  const std::string type = TRY(text_member(document, "token_type"));
  const std::string lower = ascii_lower(type);
  if (lower.empty() || lower == "bearer" || lower == "n_a") return {};
  return Error::no_credential(
      "the reply's token is of the type '" + shown_text(type, kMaxType) + "', not 'Bearer'",
      "the server binds tokens to a key; it must give this client plain bearer tokens");
}

// The value of `expires_in` in whole seconds, at most a day; nullopt if there is none.
Result<std::optional<seconds>> lifetime_of(const json::Value& document) {
  const json::Value* value = document.find("expires_in");
  if (value == nullptr || value->is_null()) return std::optional<seconds>();
  const Result<json::Value> quoted =
      value->string() != nullptr ? json::parse(*value->string()) : Result<json::Value>(*value);
  const json::Number* number = quoted ? quoted->number() : nullptr;
  if (number == nullptr)
    return Error::no_credential("the reply's 'expires_in' is no number of seconds");
  const double exact = std::strtod(number->text.c_str(), nullptr);
  const auto longest = static_cast<double>(seconds(kLongestLifetime).count());
  const auto whole = static_cast<std::int64_t>(std::clamp(exact, 0.0, longest));
  if (whole > 0) return std::optional(seconds(whole));
  return Error::no_credential(
      "the reply's token has ended already: its 'expires_in' is not above 0");
}

Result<BearerToken> chosen_token(const json::Value& document, ReplyToken wanted) {
  const bool is_id_token = wanted == ReplyToken::id_token;
  const std::string_view name = is_id_token ? "id_token" : "access_token";
  const SecretString text = TRY(secret_member(document, name));
  if (text.empty()) {
    return Error::no_credential(
        "the reply has no " + in_quotes(name),
        is_id_token ? "add 'openid' to the scope, or use the access_token" : "");
  }
  return bearer_token(text);
}

Result<std::optional<TimePoint>> end_of(const BearerToken& token, const json::Value& document,
                                        const TokenReplyRules& rules) {
  const std::optional<UnverifiedClaims> claims = TRY(token.claims());
  std::optional<TimePoint> end;
  if (rules.token == ReplyToken::access_token) {
    const std::optional<seconds> lifetime = TRY(lifetime_of(document));
    if (lifetime) end = rules.now + *lifetime;
  } else if (!claims || !claims->expires_at) {
    return Error::no_credential(claims ? "the reply's 'id_token' has no 'exp'"
                                       : "the reply's 'id_token' is no JWT");
  }
  if (claims) {
    TRY(check_lifetime(*claims, rules.now));
    if (claims->expires_at) end = end ? std::min(*end, *claims->expires_at) : *claims->expires_at;
  }
  if (end) end = std::min(*end, rules.now + kLongestLifetime);
  return end;
}

Result<TokenReply> read_reply(const json::Value& document, const TokenReplyRules& rules) {
  TokenReply reply;
  if (rules.token == ReplyToken::access_token) TRY(check_token_type(document));
  BearerToken token = TRY(chosen_token(document, rules.token));
  reply.expires_at = TRY(end_of(token, document, rules));
  reply.token = std::move(token).take();
  reply.issued_token_type = TRY(text_member(document, "issued_token_type"));
  return reply;
}

}  // namespace

Result<SecretString> refresh_token_of(const HttpResponse& reply) {
  if (reply.status < 200 || reply.status >= 300) return SecretString();
  const Result<json::SecretValue> document = json_object_of(reply, {});
  return document ? secret_member(**document, "refresh_token") : SecretString();
}

Result<TokenReply> parse_token_reply(const HttpResponse& reply, const TokenReplyRules& rules) {
  if (std::optional<Error> error = oauth_failure(reply, rules.server)) {
    return *std::move(error);
  }
  const json::SecretValue document = TRY(json_object_of(reply, rules.server));
  return read_reply(*document, rules).context("reading the reply of " + rules.server);
}

}  // namespace execcred

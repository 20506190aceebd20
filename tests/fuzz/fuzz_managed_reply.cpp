// SPDX-License-Identifier: Apache-2.0
// The reply of a managed identity endpoint; the input is "STATUS BODY". An accepted token is one
// word, ends within a day and is of the requested identity. No message shows the sent password.
#include "error_text.hpp"
#include "fuzz.hpp"

#include <execcred/base/known_secrets.hpp>
#include <execcred/base/text.hpp>

#include <azure/managed_reply.hpp>

#include <nlohmann/json.hpp>
#include <string>

namespace execcred::fuzz {
namespace {

using azure::ManagedEndpoint;

constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1'782'907'200));  // 2026-07-01
constexpr const char* kPassword = "password-that-was-sent";
constexpr const char* kClient = "99999999-8888-7777-6666-555555555555";

azure::ManagedReplyRules rules_of(ManagedEndpoint::Kind kind) {
  return {.kind = kind,
          .selector = {.name = "client_id", .value = kClient},
          .now = kNow,
          .server = "http://169.254.169.254:80"};
}

void check_error(const Error& made) {
  KnownSecrets secrets;
  secrets.add(SecretString(kPassword));
  const Error error = secrets.redacted(made);
  const std::string text = text_of(error);
  require(error.is_transient == (error.kind == Error::Kind::unavailable),
          "what is unavailable may pass");
  require(error.is_transient || error.kind == Error::Kind::no_credential,
          "the other side is at fault");
  require(text.size() < 2500, "a short message");
  require(text.find(std::string(kPassword).substr(0, 12)) == std::string::npos,
          "nothing of what was sent");
}

void check_success(const TokenReply& reply, const std::string& body) {
  require(!reply.token.empty() && is_visible_ascii(reply.token.reveal()), "one word");
  if (reply.expires_at) {
    require(*reply.expires_at > kNow, "a token that has not ended");
    require(*reply.expires_at <= kNow + std::chrono::hours(24), "believed for a day at most");
  }
  const nlohmann::json theirs = nlohmann::json::parse(body, nullptr, false);
  if (theirs.is_discarded() || !theirs.is_object()) return;
  require(reply.token.reveal() == theirs.at("access_token").get<std::string>(), "its token");
  if (!theirs.contains("client_id") || !theirs["client_id"].is_string()) return;
  const auto client = theirs["client_id"].get<std::string>();
  require(client.empty() || ascii_lower(client) == kClient, "the identity that was asked for");
}

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> halves = parts(input, " ", 2);
  const int status = 100 + static_cast<int>((number_from(halves[0]) & INT64_MAX) % 500);
  const std::string body(halves[1]);
  for (const auto kind : {ManagedEndpoint::Kind::imds, ManagedEndpoint::Kind::app_service}) {
    const azure::ManagedReplyRules rules = rules_of(kind);
    const Result<TokenReply> reply =
        azure::parse_managed_reply({.status = 200, .body = SecretString(body)}, rules);
    if (reply) {
      check_success(*reply, body);
    } else {
      check_error(reply.error());
    }
    const auto failure =
        azure::managed_failure({.status = status, .body = SecretString(body)}, rules);
    require(failure.has_value() == (status != 200), "what is no 200 is a failure");
    if (failure) check_error(*failure);
  }
}

}  // namespace execcred::fuzz

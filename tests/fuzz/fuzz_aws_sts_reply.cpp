// SPDX-License-Identifier: Apache-2.0
// The reply of STS; the input is "STATUS BODY". An accepted reply is a complete session with
// an end. No message shows the token that was sent.
#include "error_text.hpp"
#include "fuzz.hpp"

#include <aws/sts.hpp>
#include <aws/sts_reply.hpp>
#include <execcred/base/known_secrets.hpp>
#include <execcred/base/text.hpp>

#include <string>

namespace execcred::fuzz {
namespace {

constexpr std::string_view kSent = "web-identity-that-was-sent";

void check_session(const aws::RoleSession& session) {
  require(check_aws_credentials(session.credentials).has_value(), "credentials that can sign");
  require(!session.credentials.session_token.empty(), "of a session");
  require(session.credentials.expires_at.has_value(), "that ends");
  require(is_visible_ascii(session.arn), "a name of one word, or none");
}

void check_reply(int status, std::string_view body, const std::string& action) {
  KnownSecrets secrets;
  secrets.add(SecretString(kSent));
  const HttpResponse reply = {.status = status, .body = SecretString(body)};
  const bool is_passing = aws::judge_sts_reply({}, reply).next == Verdict::Next::retry;
  const auto session = secrets.redacted(
      aws::read_sts_reply(reply, action, "https://sts.us-west-2.amazonaws.com:443"));
  if (session) {
    require(status == 200, "a success is a 200");
    require(!is_passing, "and no error");
    check_session(*session);
    return;
  }
  const Error& error = session.error();
  require(!is_passing || error.is_transient, "what may pass is told to");
  require(error.is_transient == (error.kind == Error::Kind::unavailable),
          "what is unavailable may pass");
  require(error.is_transient || error.kind == Error::Kind::no_credential,
          "the other side is at fault");
  const std::string text = text_of(error);
  require(text.size() < 2500, "a short message");
  require(text.find(kSent.substr(0, 12)) == std::string::npos, "nothing of what was sent");
}

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> halves = parts(input, " ", 2);
  const int status = 100 + static_cast<int>((number_from(halves[0]) & INT64_MAX) % 500);
  for (const std::string action : {"AssumeRole", "AssumeRoleWithWebIdentity"}) {
    check_reply(200, halves[1], action);
    check_reply(status, halves[1], action);
  }
}

}  // namespace execcred::fuzz

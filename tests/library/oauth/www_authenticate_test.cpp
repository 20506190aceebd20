// SPDX-License-Identifier: Apache-2.0
#include "replies.hpp"

#include <execcred/base/known_secrets.hpp>
#include <execcred/oauth/failure.hpp>

namespace execcred::test {
namespace {

using Kind = Error::Kind;

// "ERROR|DESCRIPTION", or "none".
std::string error_of(std::string_view header) {
  const std::optional<ChallengeError> found = challenge_error(header);
  return found ? found->error + "|" + found->description : "none";
}

TEST_CASE("WWW-Authenticate: the error of a challenge in the syntax of RFC 6750 and RFC 9110") {
  CHECK(error_of(R"(Bearer realm="example", error="invalid_token", )"
                 R"(error_description="The access token expired")") ==
        "invalid_token|The access token expired");
  CHECK(error_of(
            R"(Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple")") ==
        "none");
  CHECK(error_of(R"(Basic realm="a, b", Bearer error=invalid_token)") == "invalid_token|");
  CHECK(error_of(R"(Negotiate YWJj==, Bearer error="x")") == "x|");
  CHECK(error_of(R"(Negotiate, Bearer ERROR = "x" , Error_Description	=	"a\\b \"c\"")") ==
        R"(x|a\b "c")");
  CHECK(error_of(R"(DPoP algs="ES256 PS256", error="use_dpop_nonce")") == "use_dpop_nonce|");
  CHECK(error_of(R"(,, Bearer error="x",,)") == "x|");
  CHECK(error_of(R"(Bearer error="first", Bearer error="second", error_description="d")") ==
        "first|");
  CHECK(error_of(R"(Basic realm="x", error_description="d", Bearer error="e")") == "e|");
}

TEST_CASE("WWW-Authenticate: a malformed header, or one without an error, gives no error") {
  for (const char* header : {"",
                             " ",
                             ",",
                             "Bearer",
                             "Bearer realm=\"x\"",
                             "Bearer error=\"\"",
                             "Bearer error",
                             "error=\"x\"",
                             "Bearer error=\"x",
                             "Bearer error=\"x\\",
                             "Bearer error=x error_uri=y",
                             "Bearer error=\"x\", error=\"y\"",
                             "Bearer error=\"x\", error_description=",
                             "Bearer error=\"x\" junk",
                             "Bearer error=\"x\", (",
                             "Bearer error=(",
                             "Bearer\x01 error=x",
                             "\"Bearer\" error=x",
                             "Bearer  =x",
                             "Bearer=error=x"}) {
    CAPTURE(header);
    CHECK(error_of(header) == "none");
  }
  CHECK(error_of("Bearer error=\"" + std::string(9000, 'x') + "\"") == "none");
}

HttpResponse refusal(int status, const std::string& body, std::vector<std::string> challenges) {
  HttpResponse reply = {.status = status, .body = SecretString(body)};
  for (std::string& challenge : challenges) {
    reply.headers.emplace_back("www-authenticate", std::move(challenge));
  }
  return reply;
}

const std::string kChallenge = R"(Bearer error="invalid_token", error_description="it expired")";

TEST_CASE("token error: the error of WWW-Authenticate counts if the body has none") {
  for (const char* body : {"", "<html>", "Jwt issuer is not configured", "{}", "[]"}) {
    CAPTURE(body);
    const Result<TokenReply> reply =
        parse_token_reply(refusal(401, body, {"Basic realm=\"x\"", kChallenge}), rules());
    check_fails(reply, Kind::no_credential,
                "https://idp.example:443 answered 401 with the error 'invalid_token': it expired");
    check_fails(reply, Kind::no_credential, "hint: check the token that was sent");
  }
  const Result<TokenReply> reply =
      parse_token_reply(refusal(401, R"({"error":"invalid_client"})", {kChallenge}), rules());
  check_fails(reply, Kind::no_credential, "with the error 'invalid_client'");
  check_fails(parse_token_reply(refusal(503, "", {kChallenge}), rules()), Kind::no_credential,
              "answered 503 with the error 'invalid_token'");
  check_fails(parse_token_reply(refusal(503, "", {"Bearer error=\"own\""}), rules()),
              Kind::unavailable, "answered 503 with the error 'own'");
  check_fails(
      parse_token_reply(refusal(403, "", {R"(Bearer error="insufficient_scope")"}), rules()),
      Kind::no_credential, "hint: the token that was sent lacks a scope");
}

TEST_CASE("token error: an error from WWW-Authenticate shows no token and is printable") {
  KnownSecrets secrets;
  secrets.add(SecretString("the-subject-token"));
  const std::string sent = jwt(R"({"sub":"me"})");
  const std::string challenge =
      "Bearer error=\"invalid_token\", error_description=\"got "
      "the-subject-token and " +
      sent + "\x1b[31m\"";
  const Result<TokenReply> reply =
      secrets.redacted(parse_token_reply(refusal(401, "", {challenge}), rules()));
  check_fails(reply, Kind::no_credential, "'invalid_token': got *** and ***");
  CHECK_FALSE(contains(full_text(reply.error()), "the-subject-token"));
  CHECK_FALSE(contains(full_text(reply.error()), sent));
  CHECK_FALSE(contains(full_text(reply.error()), "\x1b"));
}

}  // namespace
}  // namespace execcred::test

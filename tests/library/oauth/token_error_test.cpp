// SPDX-License-Identifier: Apache-2.0
// Replies that report an error.
#include "replies.hpp"

#include <vector>

namespace execcred::test {
namespace {

using Kind = Error::Kind;

std::string error_body(const std::string& code, const std::string& description = {}) {
  return R"({"error":")" + code + "\"" +
         (description.empty() ? "" : R"(,"error_description":")" + description + "\"") + "}";
}

void check_class(const Result<TokenReply>& reply, bool may_pass) {
  REQUIRE_FALSE(reply);
  CHECK(reply.error().kind == (may_pass ? Kind::unavailable : Kind::no_credential));
  CHECK(reply.error().is_transient == may_pass);
}

TEST_CASE("token error: every error of RFC 6749, 7523, 8628, 8693 and 8707") {
  for (const char* code :
       {"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
        "unsupported_grant_type", "invalid_scope", "invalid_target", "unsupported_token_type",
        "access_denied", "unsupported_response_type", "expired_token", "authorization_pending",
        "interaction_required", "login_required", "request_not_supported", "of_its_own"}) {
    for (const int status : {400, 401, 403}) {
      CAPTURE(code);
      const Result<TokenReply> reply = read_status(status, error_body(code, "told why"));
      check_class(reply, false);
      CHECK(reply.error().message == "https://idp.example:443 answered " + std::to_string(status) +
                                         " with the error '" + code + "': told why");
    }
  }
  for (const char* code : {"temporarily_unavailable", "slow_down", "server_error"}) {
    for (const int status : {400, 403, 429, 500, 503})
      check_class(read_status(status, error_body(code)), true);
  }
}

TEST_CASE("token error: a permanent error is permanent with a 5xx too, but not with a 429") {
  check_class(read_status(500, error_body("invalid_grant")), false);
  check_class(read_status(503, error_body("invalid_client")), false);
  check_class(read_status(500, error_body("of_its_own")), true);
  check_class(read_status(429, error_body("invalid_client")), true);
}

// As in Google's APIs (AIP-193).
TEST_CASE("token error: an error may be an object with a status and a message") {
  const Result<TokenReply> denied = read_status(
      403, R"({"error":{"code":403,"message":"not allowed","status":"PERMISSION_DENIED"}})");
  check_class(denied, false);
  CHECK(denied.error().message ==
        "https://idp.example:443 answered 403 with the error 'PERMISSION_DENIED': not allowed");
  const Result<TokenReply> nameless = read_status(400, R"({"error":{"message":"why"}})");
  CHECK(nameless.error().message ==
        "https://idp.example:443 answered 400 with an error without a code: why");
}

TEST_CASE("token error: a 200 with an error is a failure") {
  for (const char* body : {R"({"error":"invalid_grant","access_token":"SECRET"})",
                           R"({"access_token":"SECRET","error":""})",
                           R"({"access_token":"SECRET","error":{"code":403,"message":"x"}})",
                           R"({"access_token":"SECRET","error":false})"}) {
    const Result<TokenReply> reply = read(body);
    check_class(reply, false);
    CHECK_FALSE(contains(full_text(reply.error()), "SECRET"));
  }
  check_class(read(error_body("temporarily_unavailable")), true);
  CHECK(read(R"({"access_token":"t","error":null})"));
}

TEST_CASE("token error: statuses without an OAuth error") {
  for (const int status : {400, 401, 403, 404, 405, 418, 201, 204, 206, 304}) {
    CAPTURE(status);
    for (const char* body : {"", "<html>SECRET</html>", "{}", R"({"error":"a","error":"b"})"}) {
      const Result<TokenReply> reply = read_status(status, body);
      check_class(reply, false);
      CHECK(contains(reply.error().message, "answered " + std::to_string(status)));
      CHECK_FALSE(contains(full_text(reply.error()), "SECRET"));
    }
  }
  for (const int status : {408, 425, 429, 500, 501, 502, 503, 504, 599}) {
    check_class(read_status(status, "<html>"), true);
  }
  for (const int status : {301, 302, 303, 307, 308}) {
    for (const char* const body :
         {R"({"access_token":"t"})", R"({"error":"temporarily_unavailable"})"}) {
      const Result<TokenReply> reply = read_status(status, body);
      check_class(reply, false);
      CHECK(contains(reply.error().message, "a redirect, which is never followed"));
    }
  }
  check_class(read_status(201, R"({"access_token":"t"})"), false);
}

TEST_CASE("token error: only a status that says that nothing is there has a hint at the URL") {
  for (const int status : {400, 401, 403, 404, 405, 409, 410, 422}) {
    CAPTURE(status);
    const bool has_nothing = status == 404 || status == 405 || status == 410;
    CHECK((read_status(status, "").error().hint == "check the URL") == has_nothing);
  }
}

TEST_CASE("token error: the server's text is escaped and shortened") {
  const Result<TokenReply> reply =
      read_status(400, error_body("bad\\u001b[31m\\ncode", "line\\r\\nhint: \\u202e evil\\u0007"));
  REQUIRE_FALSE(reply);
  CHECK(reply.error().message ==
        "https://idp.example:443 answered 400 with the error 'bad\\x1b[31m\\x0acode': "
        "line\\x0d\\x0ahint: \\xe2\\x80\\xae evil\\x07");
  const Result<TokenReply> large =
      read_status(400, error_body(std::string(5000, 'c'), std::string(500000, 'd')));
  REQUIRE_FALSE(large);
  CHECK(large.error().message.size() < 600);
  CHECK(large.error().message.ends_with("ddd..."));
  // The limit of 400 bytes falls into the middle of one of these characters.
  std::string wide = "x";
  for (int i = 0; i < 300; ++i) wide += "\xe2\x82\xac";
  CHECK_FALSE(contains(read_status(400, error_body("e", wide)).error().message, "\\x"));
}

TEST_CASE("token error: no part of a secret that was sent is shown, nor any JWT") {
  const std::string token = jwt(R"({"sub":"somebody"})");
  KnownSecrets secrets;
  for (const char* sent : {"opaque-subject-token-0123456789", "hunter2", "it"}) {
    secrets.add(SecretString(sent));
  }
  const auto told = [&secrets](const std::string& description) {
    return secrets
        .redacted(parse_token_reply(
            {.status = 400, .body = SecretString(error_body("invalid_grant", description))},
            rules()))
        .error()
        .message;
  };
  const std::string start = "https://idp.example:443 answered 400 with the error 'invalid_grant': ";
  CHECK(told("token " + token + " is bad") == start + "token *** is bad");
  CHECK(told("[opaque-subject-token-0123456789]") == start + "[***]");
  CHECK(told("starts with opaque-subject-...") == start + "starts with ***...");
  CHECK(told("ends in ken-0123456789!") == start + "ends in ***!");
  CHECK(told("the secret hunter2 with it") == start + "the secret *** with it");
  CHECK(told("a short subject") == start + "a short subject");
  CHECK_FALSE(contains(told(std::string(390, 'a') + " " + token), "eyJ"));
  for (std::size_t size = 980; size < 1024; ++size) {
    const std::string before = token + std::string(size - token.size(), ' ');
    CHECK_FALSE(contains(told(before + "opaque-subject-token-0123456789"), "opaq"));
  }
  CHECK(told("a eyJ and eyJhbGciOi") == start + "a eyJ and eyJhbGciOi");
}

TEST_CASE("token error: a secret in token_type or Content-Type is not shown") {
  KnownSecrets secrets;
  secrets.add(SecretString("opaque-subject-token"));
  const auto read = [&secrets](HttpResponse reply) {
    return secrets.redacted(parse_token_reply(reply, rules()));
  };
  const std::string type = R"({"access_token":"t","token_type":"my opaque-subject-token"})";
  check_fails(read({.status = 200, .body = SecretString(type)}), Kind::no_credential,
              "of the type 'my ***', not 'Bearer'");
  check_fails(read({.status = 200,
                    .headers = {{"content-type", "text/opaque-subject-token"}},
                    .body = SecretString("<html>")}),
              Kind::no_credential, "it is no application/json: check the URL");
}

TEST_CASE("token error: known errors have a hint") {
  CHECK(contains(read_status(401, error_body("invalid_client")).error().hint, "client's id"));
  CHECK(contains(read_status(400, error_body("invalid_grant")).error().hint, "trusts the issuer"));
  CHECK(read_status(400, error_body("of_its_own")).error().hint.empty());
}

}  // namespace
}  // namespace execcred::test

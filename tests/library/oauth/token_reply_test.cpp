// SPDX-License-Identifier: Apache-2.0
// Replies that are, or claim to be, a success.
#include "replies.hpp"

#include <vector>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using Kind = Error::Kind;

TEST_CASE("token reply: the example of RFC 6749, section 5.1, with the type Bearer") {
  const auto example = [](const std::string& type) {
    return read(R"({"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":")" + type +
                R"(","expires_in":3600,"refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA",
                   "example_parameter":"example_value"})");
  };
  const Result<TokenReply> reply = example("Bearer");
  REQUIRE(reply);
  CHECK(reply->token.reveal() == "2YotnFZFEjr1zCsicMWpAA");
  CHECK(reply->expires_at == kNow + 1h);
  check_fails(example("example"), Kind::no_credential, "of the type 'example', not 'Bearer'");
  check_fails(example("DPoP"), Kind::no_credential, "of the type 'DPoP', not 'Bearer'");
}

TEST_CASE("token reply: token_type in any case, N_A, or missing") {
  for (const char* type : {R"("bearer")", R"("BEARER")", R"("N_A")", R"("n_a")", "null"}) {
    CAPTURE(type);
    CHECK(read(std::string(R"({"access_token":"t","token_type":)") + type + "}"));
  }
  CHECK(read(R"({"access_token":"t"})"));
  check_fails(read(R"({"access_token":"t","token_type":1})"), Kind::no_credential,
              "token_type must be a string");
}

TEST_CASE("token reply: RFC 8693, section 2.3, with Keycloak's and Pinniped's N_A") {
  const Result<TokenReply> reply = read(
      R"({"access_token":"t","token_type":"N_A",
          "issued_token_type":"urn:ietf:params:oauth:token-type:jwt","expires_in":60})");
  REQUIRE(reply);
  CHECK(reply->issued_token_type == "urn:ietf:params:oauth:token-type:jwt");
  CHECK(reply->expires_at == kNow + 60s);
}

TEST_CASE("token reply: expires_in is a number or a string, and is limited to a day") {
  const auto end_after = [](const std::string& expires_in) {
    return read(R"({"access_token":"t","expires_in":)" + expires_in + "}");
  };
  struct Good {
    const char* text;
    std::chrono::seconds lifetime;
  };
  for (const Good& good : std::vector<Good>{{"300", 300s},
                                            {"\"300\"", 300s},
                                            {"3599.9", 3599s},
                                            {"\"1e3\"", 1000s},
                                            {"1", 1s},
                                            {"86401", 24h},
                                            {"1e18", 24h},
                                            {"1e999", 24h},
                                            {"99999999999999999999999999", 24h},
                                            {"\"18446744073709551615\"", 24h}}) {
    CAPTURE(good.text);
    const Result<TokenReply> reply = end_after(good.text);
    REQUIRE(reply);
    CHECK(reply->expires_at == kNow + good.lifetime);
  }
  for (const char* text : {"0", "-1", "-1e999", "0.5", "-0.5", "\"0\"", "\"-300\"", "1e-999"}) {
    CAPTURE(text);
    check_fails(end_after(text), Kind::no_credential, "has ended already");
  }
  for (const char* text : {"\"\"", "\"soon\"", "true", "{}", "[300]", "\"0x10\"", "\"NaN\"",
                           "\"1 2\"", "\"[1]\"", "\"+5\""}) {
    CAPTURE(text);
    check_fails(end_after(text), Kind::no_credential, "'expires_in' is no number of seconds");
  }
  CHECK_FALSE(end_after("null")->expires_at);
  CHECK_FALSE(read(R"({"access_token":"opaque"})")->expires_at);
}

TEST_CASE("token reply: the token expires at the earlier of expires_in and the JWT's exp") {
  const auto end = [](long exp, const std::string& more) {
    const Result<TokenReply> reply = read(
        R"({"access_token":")" + jwt_ending(kNow + std::chrono::seconds(exp)) + "\"" + more + "}");
    REQUIRE(reply);
    return *reply->expires_at - kNow;
  };
  CHECK(end(600, R"(,"expires_in":300)") == 300s);
  CHECK(end(300, R"(,"expires_in":600)") == 300s);
  CHECK(end(300, "") == 300s);
  CHECK(end(10 * 86400, "") == 24h);
  check_fails(read(R"({"access_token":")" + jwt_ending(kNow) + R"(","expires_in":300})"),
              Kind::no_credential, "the token has expired");
  check_fails(read(R"({"access_token":")" + jwt(R"({"exp":"soon"})") + "\"}"), Kind::no_credential,
              "'exp' claim is a string");
  check_fails(read(R"({"access_token":")" + jwt(R"({"exp":1,"exp":9999999999})") + "\"}"),
              Kind::no_credential, "claims");
}

TEST_CASE("token reply: an id_token expires at its own exp, expires_in does not count") {
  const std::string body = R"({"access_token":"opaque","token_type":"DPoP","expires_in":1,
                               "id_token":")" +
                           jwt_ending(kNow + 600s) + "\"}";
  const Result<TokenReply> reply = read(body, ReplyToken::id_token);
  REQUIRE(reply);
  CHECK(reply->expires_at == kNow + 600s);
  CHECK(reply->token.reveal() == jwt_ending(kNow + 600s));
  check_fails(read(R"({"access_token":"a"})", ReplyToken::id_token), Kind::no_credential,
              "the reply has no 'id_token'");
  check_fails(read(R"({"id_token":"opaque"})", ReplyToken::id_token), Kind::no_credential,
              "is no JWT");
  check_fails(read(R"({"id_token":")" + jwt("{}") + "\"}", ReplyToken::id_token),
              Kind::no_credential, "has no 'exp'");
  check_fails(read(R"({"id_token":"a"})"), Kind::no_credential, "the reply has no 'access_token'");
}

TEST_CASE("token reply: tokens that are missing, not strings, or invalid in an HTTP header") {
  for (const char* token : {"a b", "a\\nb", "a\\r\\nX: y", "\xc3\xa4", "a\\u0000", " a", "a\\n"}) {
    CAPTURE(token);
    const Result<TokenReply> reply = read(std::string(R"({"access_token":")") + token + "\"}");
    check_fails(reply, Kind::no_credential, "'access_token' has a byte that no token may hold");
  }
  for (const char* token : {"null", "\"\""}) {
    check_fails(read(std::string(R"({"access_token":)") + token + "}"), Kind::no_credential,
                "has no 'access_token'");
  }
  for (const char* token : {"1", "true", "[\"a\"]", "{\"a\":\"b\"}"}) {
    check_fails(read(std::string(R"({"access_token":)") + token + "}"), Kind::no_credential,
                "not a string");
  }
  check_fails(read(R"({"access_token":"-----BEGIN-KEY-----"})"), Kind::no_credential, "a PEM file");
}

TEST_CASE("token reply: a bad token of the server is not blamed on a token file") {
  for (const std::string& token :
       {jwt_ending(kNow - 1s), std::string("eyJhbGciOiJ"), std::string("-----BEGIN-KEY-----")}) {
    const Result<TokenReply> reply = read(R"({"access_token":")" + token + "\"}");
    check_fails(reply, Kind::no_credential, "while reading the reply of https://idp.example:443");
    CHECK(reply.error().hint == "");
    CHECK(reply.error().cause == "");
  }
}

TEST_CASE("token reply: duplicate keys at any level" * doctest::description("promise 20")) {
  for (const char* body :
       {R"({"access_token":"a","access_token":"b"})", R"({"access_token":"a","x":1,"x":1})",
        R"({"access_token":"a","x":{"y":1,"y":2}})",
        R"({"access_token":"a","\u0061ccess_token":"b"})"}) {
    CAPTURE(body);
    check_fails(read(body), Kind::no_credential, "the JSON that https://idp.example:443 answered");
  }
}

TEST_CASE("token reply: a 200 that is not a token reply is an error that does not show it") {
  const std::string deep = std::string(100000, '[');
  for (const std::string& body :
       {std::string(), std::string("<html>SECRET</html>"),
        std::string("{\"access_token\":\"SECRET"), std::string("[\"SECRET\"]"),
        std::string("\"SECRET\""), std::string("null"), deep,
        std::string("{\"access_token\":\"SECRET\xff\"}"),
        "{\"access_token\":\"" + std::string(1024 * 1024, 'a') + "\"}"}) {
    const Result<TokenReply> reply = read(body);
    check_fails(reply, Kind::no_credential, "the JSON that https://idp.example:443 answered ");
    CHECK_FALSE(reply.error().is_transient);
    CHECK_FALSE(contains(full_text(reply.error()), "SECRET"));
  }
  HttpResponse html = {.status = 200,
                       .headers = {{"content-type", "text/html; charset=utf-8"}},
                       .body = SecretString("<html>")};
  check_fails(parse_token_reply(html, rules()), Kind::no_credential,
              "it is of the type 'text/html': check the URL");
}

}  // namespace
}  // namespace execcred::test

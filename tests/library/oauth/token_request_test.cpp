// SPDX-License-Identifier: Apache-2.0
// The whole exchange with a token endpoint, over TLS.
#include "provider.hpp"
#include "replies.hpp"
#include "support/jws_keys.hpp"

#include <execcred/oauth/token_request.hpp>

#include <set>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using Kind = Error::Kind;
using Method = ClientAuthMethod;

class FixedClock final : public Clock {
 public:
  TimePoint now() const override { return kNow; }
};

const FixedClock kClock;

// A clock that moves by one step at each reading.
class SteppingClock final : public Clock {
 public:
  explicit SteppingClock(Duration step) : step_(step) {}
  TimePoint now() const override { return kNow + readings_++ * step_; }
  int readings() const { return readings_; }
  TimePoint first() const { return kNow; }
  TimePoint last() const { return kNow + (readings_ - 1) * step_; }

 private:
  Duration step_;
  mutable int readings_ = 0;
};

const std::string kGoodReply = http_reply(200, R"({"access_token":"t","expires_in":300})");

std::string error_reply(int status, const std::string& code) {
  return http_reply(status, R"({"error":")" + code + "\"}");
}

TokenRequest exchange() {
  return {.grant = Grant::token_exchange, .subject = SecretString("subject-token-of-this-test")};
}

Result<TokenReply> ask(const ScriptedProvider& provider, const TokenRequest& request = exchange(),
                       const ClientAuthentication& authentication = {.client_id = "me"}) {
  const auto client = make_http_client(provider.settings());
  const RetryPolicy quick = {.first_pause = 1ms, .longest_pause = 2ms};
  CallContext call = {.clock = kClock};
  return request_token(*client, provider.url(), request, authentication, call, quick);
}

std::string body_of(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

// The value of a form's field, as it was sent.
std::string field_of(const std::string& request, const std::string& name) {
  const std::string body = "&" + body_of(request) + "&";
  const std::size_t begin = body.find("&" + name + "=");
  REQUIRE(begin != std::string::npos);
  const std::size_t value = begin + name.size() + 2;
  return body.substr(value, body.find('&', value) - value);
}

TEST_CASE("token request: the exchange of RFC 8693, section 2.3, on the wire") {
  const ScriptedProvider provider({kGoodReply});
  TokenRequest request = exchange();
  request.subject = SecretString("accVkjcJyb4BWCxGsndESCJQbdFMogUC5PbRDqceLTC");
  request.subject_token_type = "access_token";
  request.resources = {"https://backend.example.com/api"};
  const Result<TokenReply> reply = ask(provider, request,
                                       {.method = Method::client_secret_basic,
                                        .client_id = "rs08",
                                        .secret = SecretString("long-secure-random-secret")});
  REQUIRE(reply);
  CHECK(reply->token.reveal() == "t");
  CHECK(reply->expires_at == kNow + 300s);
  REQUIRE(provider.requests().size() == 1);
  const std::string sent = provider.requests().front();
  CHECK(sent.starts_with("POST /token HTTP/1.1\r\n"));
  CHECK(contains(sent, "\r\nAuthorization: Basic cnMwODpsb25nLXNlY3VyZS1yYW5kb20tc2VjcmV0\r\n"));
  CHECK(contains(sent, "\r\nContent-Type: application/x-www-form-urlencoded\r\n"));
  CHECK(contains(sent, "\r\nAccept: application/json\r\n"));
  CHECK(body_of(sent) ==
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&"
        "subject_token=accVkjcJyb4BWCxGsndESCJQbdFMogUC5PbRDqceLTC&"
        "subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&"
        "resource=https%3A%2F%2Fbackend.example.com%2Fapi");
}

TEST_CASE("token request: a permanent error is not retried, with any status") {
  for (const char* code :
       {"invalid_request", "invalid_client", "invalid_grant", "access_denied",
        "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_target"}) {
    for (const int status : {200, 400, 401, 500, 503}) {
      CAPTURE(code);
      CAPTURE(status);
      const ScriptedProvider provider({error_reply(status, code), kGoodReply});
      check_fails(ask(provider), Kind::no_credential, code);
      CHECK(provider.requests().size() == 1);
    }
  }
}

TEST_CASE("token request: temporary errors are retried") {
  for (const std::string& passing :
       {error_reply(400, "temporarily_unavailable"), error_reply(400, "slow_down"),
        error_reply(200, "server_error"), error_reply(429, "invalid_client"),
        error_reply(503, "temporarily_unavailable"), http_reply(500, "<html>"), http_reply(502, ""),
        http_reply(429, "", "Retry-After: 0\r\n")}) {
    CAPTURE(passing);
    const ScriptedProvider provider({passing, passing, kGoodReply});
    CHECK(ask(provider));
    CHECK(provider.requests().size() == 3);
    const ScriptedProvider down({passing});
    const Result<TokenReply> reply = ask(down);
    check_fails(reply, Kind::unavailable, "https://127.0.0.1:");
    CHECK(reply.error().is_transient);
    CHECK(down.requests().size() == 4);
  }
}

TEST_CASE("token request: a refresh token or an assertion with a jti is sent only once") {
  const std::string assertion = jwt(R"({"iss":"i","sub":"s","jti":"once"})");
  const TokenRequest refresh = {.grant = Grant::refresh_token, .subject = SecretString("refresh")};
  const TokenRequest bearer = {.grant = Grant::jwt_bearer, .subject = SecretString(assertion)};
  const TokenRequest client = {.grant = Grant::client_credentials};
  for (const std::string& passing :
       {error_reply(400, "temporarily_unavailable"), error_reply(200, "server_error"),
        error_reply(503, "temporarily_unavailable"), http_reply(504, ""),
        http_reply(429, "", "Retry-After: 0\r\n")}) {
    for (const TokenRequest* request : {&refresh, &bearer, &client}) {
      CAPTURE(passing);
      const ScriptedProvider provider({passing, kGoodReply});
      ClientAuthentication authentication = {.client_id = "me"};
      if (request == &client) {
        authentication.method = Method::federated;
        authentication.assertion = SecretString(assertion);
      }
      const Result<TokenReply> reply = ask(provider, *request, authentication);
      check_fails(reply, Kind::unavailable, "https://127.0.0.1:");
      CHECK_FALSE(reply.error().is_transient);
      CHECK(contains(reply.error().hint, "it is not sent twice in one run"));
      CHECK(provider.requests().size() == 1);
    }
  }
}

TEST_CASE("token request: a refresh token is spent, even if the client signs a new assertion" *
          doctest::description("promise 31")) {
  const ScriptedProvider provider({http_reply(503, ""), kGoodReply});
  ClientAuthentication authentication = {.method = Method::private_key_jwt,
                                         .client_id = "me",
                                         .assertion_audience = provider.origin()};
  authentication.private_key = *SigningKey::read(rfc8037_key());
  check_fails(ask(provider, {.grant = Grant::refresh_token, .subject = SecretString("refresh")},
                  authentication),
              Kind::unavailable, "answered 503");
  CHECK(provider.requests().size() == 1);
}

TEST_CASE("token request: a new refresh token is kept, whatever else the reply says") {
  for (const std::string& body : {std::string(), std::string(R"(,"access_token":"t")"),
                                  std::string(R"(,"access_token":"t","token_type":"DPoP")"),
                                  std::string(R"(,"access_token":"t","error":"")"),
                                  std::string(R"(,"access_token":"t","error":false)"),
                                  std::string(R"(,"error":"server_error")")}) {
    for (const int status : {200, 201, 202}) {
      CAPTURE(body);
      CAPTURE(status);
      const ScriptedProvider provider(
          {http_reply(status, R"({"refresh_token":"successor")" + body + "}")});
      std::vector<std::string> kept;
      TokenRequest request = {.grant = Grant::refresh_token, .subject = SecretString("refresh")};
      request.keep_refresh_token = [&kept](const SecretString& token) {
        kept.emplace_back(token.reveal());
        return Status();
      };
      const bool is_good = status == 200 && body == R"(,"access_token":"t")";
      CHECK(ask(provider, request).has_value() == is_good);
      CHECK(kept == std::vector<std::string>{"successor"});
    }
  }
}

TEST_CASE("token request: without a new refresh token in a success, nothing is kept") {
  for (const std::string& reply :
       {kGoodReply, http_reply(200, R"({"access_token":"t","refresh_token":""})"),
        http_reply(200, R"({"access_token":"t","refresh_token":null})"),
        http_reply(200, "refresh_token"), http_reply(400, R"({"refresh_token":"r"})"),
        http_reply(302, R"({"refresh_token":"r"})")}) {
    CAPTURE(reply);
    const ScriptedProvider provider({reply});
    TokenRequest request = {.grant = Grant::refresh_token, .subject = SecretString("refresh")};
    bool is_kept = false;
    request.keep_refresh_token = [&is_kept](const SecretString& /*token*/) {
      is_kept = true;
      return Status();
    };
    (void)ask(provider, request);
    CHECK_FALSE(is_kept);
  }
}

TEST_CASE("token request: a new refresh token that is malformed or cannot be stored is an error") {
  const ScriptedProvider provider(
      {http_reply(200, R"({"access_token":"t","refresh_token":"successor"})"),
       http_reply(200, R"({"access_token":"t","refresh_token":"a\nb"})")});
  TokenRequest request = {.grant = Grant::refresh_token, .subject = SecretString("refresh")};
  request.keep_refresh_token = [](const SecretString& /*token*/) -> Status {
    return Error{.kind = Kind::unavailable, .message = "the disk is full"};
  };
  check_fails(ask(provider, request), Kind::unavailable, "the disk is full");
  check_fails(ask(provider, request), Kind::no_credential, "the reply's 'refresh_token'");
  CHECK(provider.requests().size() == 2);
}

TEST_CASE("token request: a request without its subject is a local error, and is not sent") {
  const ScriptedProvider provider({kGoodReply});
  const Result<TokenReply> reply = ask(provider, {.grant = Grant::jwt_bearer});
  check_fails(reply, Kind::no_credential, "is missing");
  CHECK(reply.error().is_local);
  CHECK(provider.requests().empty());
}

TEST_CASE("token request: each attempt signs a new assertion") {
  const ScriptedProvider provider({http_reply(503, ""), http_reply(503, ""), kGoodReply});
  ClientAuthentication authentication = {.method = Method::private_key_jwt,
                                         .client_id = "me",
                                         .assertion_audience = provider.origin()};
  authentication.private_key = *SigningKey::read(rfc8037_key());
  REQUIRE(ask(provider, exchange(), authentication));
  std::set<std::string> assertions;
  for (const std::string& request : provider.requests()) {
    const std::string assertion = field_of(request, "client_assertion");
    CHECK(is_signed_by(assertion, "EdDSA", parse_key(rfc8037_key())));
    CHECK(field_of(request, "client_id") == "me");
    assertions.insert(assertion);
  }
  CHECK(assertions.size() == 3);
}

TEST_CASE("token request: a lifetime begins before the request, also if the clock is set back") {
  for (const Duration step : {Duration(10s), Duration(-1h)}) {
    CAPTURE(step.count());
    const ScriptedProvider provider({kGoodReply});
    const SteppingClock clock(step);
    const auto client = make_http_client(provider.settings());
    CallContext call = {.clock = clock};
    const Result<TokenReply> reply =
        request_token(*client, provider.url(), exchange(), {.client_id = "me"}, call, {});
    REQUIRE(reply);
    REQUIRE(clock.readings() > 1);
    CHECK(reply->expires_at == (step > 0s ? clock.first() : clock.last()) + 300s);
  }
}

TEST_CASE("token request: redirects are not followed, and the target gets no request" *
          doctest::description("promise 14")) {
  for (const int status : {301, 302, 303, 307, 308}) {
    const ScriptedProvider target({kGoodReply});
    const ScriptedProvider provider({http_reply(status, "", "Location: " + target.url() + "\r\n")});
    check_fails(ask(provider), Kind::no_credential, "a redirect, which is never followed");
    CHECK(provider.requests().size() == 1);
    CHECK(target.requests().empty());
  }
}

TEST_CASE("token request: secrets that the server repeats in its error are not shown") {
  const std::string subject = jwt(R"({"iss":"https://issuer.example","sub":"somebody"})");
  const std::string secret = "a+secret/with=signs";
  const std::string basic = "bWU6YSUyQnNlY3JldCUyRndpdGglM0RzaWducw==";
  const ScriptedProvider provider({http_reply(
      400, R"({"error":"invalid_grant","error_description":"bad )" + subject + " " + secret +
               " a%2Bsecret%2Fwith%3Dsigns " + basic + " " + subject.substr(10, 30) + "\"}")});
  TokenRequest request = exchange();
  request.subject = SecretString(subject);
  const Result<TokenReply> reply = ask(
      provider, request,
      {.method = Method::client_secret_basic, .client_id = "me", .secret = SecretString(secret)});
  check_fails(reply, Kind::no_credential, "bad *** *** *** *** ***");
  CHECK(contains(provider.requests().front(), "Basic " + basic));
}

TEST_CASE("token request: replies that are too large, not HTTP, or chunked") {
  const ScriptedProvider large({http_reply(200, std::string(1024 * 1024 + 1, ' '))});
  check_fails(ask(large), Kind::no_credential, "is larger than 1 MiB");
  CHECK(large.requests().size() == 1);
  const ScriptedProvider garbage({"garbage\r\n\r\n"});
  check_fails(ask(garbage), Kind::no_credential, "answered with something that is not HTTP/1.1");
  const ScriptedProvider chunked(
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
       "a\r\n{\"access_t\r\nb\r\noken\":\"t\"} \r\n0\r\n\r\n"});
  CHECK(ask(chunked));
}

TEST_CASE("token request: tls_client_auth sends the certificate and the client id") {
  const Identity client_ca = make_ca("client CA");
  const Identity identity = make_identity({.common_name = "client", .issuer = &client_ca});
  const ScriptedProvider provider({kGoodReply}, &client_ca);
  HttpSettings settings = provider.settings();
  settings.tls.client_certificate = identity.pem;
  settings.tls.client_key = SecretString(identity.key_pem);
  const auto client = make_http_client(std::move(settings));
  const ClientAuthentication authentication = {.method = Method::tls_client_auth,
                                               .client_id = "me"};
  CallContext call = {.clock = kClock};
  CHECK(request_token(*client, provider.url(), exchange(), authentication, call));
  CHECK(field_of(provider.requests().at(0), "client_id") == "me");
  check_fails(ask(provider, exchange(), authentication), Kind::unavailable,
              "wants a client certificate");
  CHECK(provider.requests().size() == 1);
}

TEST_CASE("token request: a server whose certificate is not trusted gets no request") {
  const ScriptedProvider provider({kGoodReply});
  const ScriptedProvider other({kGoodReply});
  const auto client = make_http_client(other.settings());
  CallContext call = {.clock = kClock};
  check_fails(request_token(*client, provider.url(), exchange(), {}, call), Kind::unavailable,
              "cannot verify https://127.0.0.1:");
  CHECK(provider.requests().empty());
}

TEST_CASE("token request: an invalid URL or request fails before anything is sent") {
  const ScriptedProvider provider({kGoodReply});
  const auto client = make_http_client(provider.settings());
  const auto ask_url = [&client](const std::string& url) {
    CallContext call = {.clock = kClock};
    return request_token(*client, url, exchange(), {}, call);
  };
  check_fails(ask_url("http://127.0.0.1/token"), Kind::configuration, "is no https URL");
  check_fails(ask_url("https://user:SECRET@127.0.0.1/"), Kind::configuration, "the token URL '");
  CHECK_FALSE(contains(full_text(ask_url("https://user:SECRET@127.0.0.1/").error()), "SECRET"));
  check_fails(ask(provider, {.grant = Grant::jwt_bearer}), Kind::no_credential, "is missing");
  check_fails(ask(provider, exchange(), {.method = Method::client_secret_post}),
              Kind::configuration, "needs a client id");
  CHECK(provider.requests().empty());
}

}  // namespace
}  // namespace execcred::test

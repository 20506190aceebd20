// SPDX-License-Identifier: Apache-2.0
#include "support/jws_keys.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/try.hpp>
#include <execcred/oauth/client_authentication.hpp>

#include <set>

namespace execcred::test {
namespace {

using Kind = Error::Kind;
using Method = ClientAuthMethod;

const TimePoint kNow = *parse_rfc3339("2026-07-01T12:00:00Z");

struct Sent {
  std::string authorization = {};
  std::string body = {};
  std::string assertion = {};
};

Result<Sent> authenticate(const ClientAuthentication& client) {
  HttpRequest request;
  Form form;
  TRY(authenticate_client(client, kNow, request, form));
  Sent sent = {.body = std::string(form.encoded().reveal())};
  for (const Form::Field& field : form.fields()) {
    if (field.name == "client_assertion") sent.assertion = field.value.reveal();
  }
  if (!request.headers.empty()) {
    CHECK(request.headers.size() == 1);
    CHECK(request.headers.front().name == "Authorization");
    sent.authorization = request.headers.front().value.reveal();
  }
  return sent;
}

Sent basic(std::string_view id, std::string_view secret) {
  return *authenticate({.method = Method::client_secret_basic,
                        .client_id = std::string(id),
                        .secret = SecretString(secret)});
}

TEST_CASE("client authentication: Basic as in RFC 6749 and RFC 8693") {
  CHECK(basic("s6BhdRkqt3", "gX1fBat3bV").authorization == "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW");
  CHECK(basic("rs08", "long-secure-random-secret").authorization ==
        "Basic cnMwODpsb25nLXNlY3VyZS1yYW5kb20tc2VjcmV0");
  CHECK(basic("rs08", "x").body.empty());
}

TEST_CASE("client authentication: the pairs of RFC 7617, each part form-urlencoded first") {
  CHECK(basic("Aladdin", "open sesame").authorization ==
        "Basic " + encode_base64("Aladdin:open+sesame"));
  CHECK(basic("test", "123\xc2\xa3").authorization == "Basic " + encode_base64("test:123%C2%A3"));
  CHECK(basic("a:b", "%+").authorization == "Basic " + encode_base64("a%3Ab:%25%2B"));
}

TEST_CASE("client authentication: the fields in the body") {
  const Result<Sent> post = authenticate({.method = Method::client_secret_post,
                                          .client_id = "s6BhdRkqt3",
                                          .secret = SecretString("7Fjfp0ZBr1KtDRbnfVdmIw")});
  REQUIRE(post);
  CHECK(post->body == "client_id=s6BhdRkqt3&client_secret=7Fjfp0ZBr1KtDRbnfVdmIw");
  CHECK(post->authorization.empty());
  CHECK(authenticate({.client_id = "public"})->body == "client_id=public");
  CHECK(authenticate({})->body.empty());
  CHECK(authenticate({.method = Method::tls_client_auth, .client_id = "tls"})->body ==
        "client_id=tls");
}

TEST_CASE("client authentication: a federated assertion has a configurable type") {
  ClientAuthentication client = {.method = Method::federated, .assertion = SecretString("a.b.c")};
  CHECK(authenticate(client)->body ==
        "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&"
        "client_assertion=a.b.c");
  client.assertion_type = "jwt-spiffe";
  client.client_id = "me";
  CHECK(authenticate(client)->body ==
        "client_id=me&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type"
        "%3Ajwt-spiffe&client_assertion=a.b.c");
  client.assertion_type = "urn:example:own";
  CHECK(contains(authenticate(client)->body, "client_assertion_type=urn%3Aexample%3Aown&"));
}

TEST_CASE("client authentication: private_key_jwt follows RFC 7523, with a new jti each time") {
  ClientAuthentication client = {.method = Method::private_key_jwt,
                                 .client_id = "me",
                                 .key_id = "k1",
                                 .assertion_audience = "https://idp.example/token"};
  client.private_key = *SigningKey::read(rfc7515_ec_key());
  const KeyPtr key = parse_key(rfc7515_ec_key());
  std::set<std::string> ids;
  for (int i = 0; i < 20; ++i) {
    const Result<Sent> sent = authenticate(client);
    REQUIRE(sent);
    CHECK(is_signed_by(sent->assertion, "ES256", key));
    CHECK(part_of(sent->assertion, 0) == R"({"alg":"ES256","kid":"k1","typ":"JWT"})");
    const Result<json::Value> claims = json::parse(part_of(sent->assertion, 1));
    REQUIRE(claims);
    CHECK(*claims->find("iss")->string() == "me");
    CHECK(*claims->find("sub")->string() == "me");
    CHECK(*claims->find("aud")->string() == "https://idp.example/token");
    CHECK(claims->find("iat")->number()->text == "1782907200");
    CHECK(claims->find("exp")->number()->text == "1782907380");
    const std::string id = *claims->find("jti")->string();
    CHECK(id.size() == 22);
    ids.insert(id);
  }
  CHECK(ids.size() == 20);
}

TEST_CASE("client authentication: errors name the missing or invalid value") {
  const auto fails = [](const ClientAuthentication& client, std::string_view part) {
    check_fails(authenticate(client), Kind::configuration, part);
  };
  fails({.method = Method::client_secret_basic, .client_id = "a"}, "needs a client secret");
  fails({.method = Method::client_secret_post, .secret = SecretString("s")}, "needs a client id");
  fails({.method = Method::private_key_jwt, .client_id = "a"}, "needs a private key");
  fails({.method = Method::tls_client_auth}, "tls_client_auth needs a client id");
  fails({.method = Method::federated}, "needs an assertion");
  fails({.method = Method::federated, .assertion = SecretString("a\r\nb")}, "control character");
  fails({.client_id = "a\nb"}, "the client id has a control character");
  fails({.method = Method::client_secret_basic, .client_id = "a", .secret = SecretString("s\n")},
        "the client secret has a control character");
  ClientAuthentication client = {.method = Method::private_key_jwt, .client_id = "a"};
  client.private_key = *SigningKey::read(rfc8037_key());
  fails(client, "needs an assertion audience");
  client.assertion_audience = "https://idp.example";
  client.client_id.clear();
  fails(client, "needs a client id");
}

TEST_CASE("client authentication: only one method in each request") {
  const ClientAuthentication client = {.client_id = "a"};
  for (const char* name :
       {"client_id", "client_secret", "client_assertion", "client_assertion_type"}) {
    HttpRequest request;
    Form form;
    form.add(name, "x");
    check_fails(authenticate_client(client, kNow, request, form), Kind::configuration, "twice");
  }
  HttpRequest request;
  request.add_header("AUTHORIZATION", "Bearer x");
  Form form;
  check_fails(authenticate_client(client, kNow, request, form), Kind::configuration, "twice");
}

TEST_CASE("client authentication: the default depends on the keys and on the server's methods") {
  CHECK(default_client_auth({}) == Method::none);
  CHECK(default_client_auth({.has_certificate = true}) == Method::tls_client_auth);
  CHECK(default_client_auth({.has_secret = true, .has_certificate = true}) ==
        Method::client_secret_basic);
  CHECK(default_client_auth({.has_private_key = true, .has_secret = true}) ==
        Method::private_key_jwt);
  const auto with = [](std::vector<std::string> supported) {
    return default_client_auth({.has_secret = true, .supported = std::move(supported)});
  };
  CHECK(with({"client_secret_post"}) == Method::client_secret_post);
  CHECK(with({"client_secret_post", "client_secret_basic"}) == Method::client_secret_basic);
  CHECK(with({"private_key_jwt"}) == Method::client_secret_basic);
}

}  // namespace
}  // namespace execcred::test

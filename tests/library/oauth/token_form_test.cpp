// SPDX-License-Identifier: Apache-2.0
#include "unit/expect.hpp"
#include "unit/growth.hpp"

#include <doctest/doctest.h>
#include <execcred/oauth/token_request.hpp>

namespace execcred::test {
namespace {

using Kind = Error::Kind;

std::string body_of(const TokenRequest& request) {
  const Result<Form> form = token_form(request);
  REQUIRE(form);
  return std::string(form->encoded().reveal());
}

TokenRequest with_parameters(std::vector<TokenParameter> parameters) {
  return {.parameters = std::move(parameters)};
}

TEST_CASE("token form: the examples of RFC 6749, sections 4.4.2 and 6") {
  CHECK(body_of({}) == "grant_type=client_credentials");
  CHECK(
      body_of({.grant = Grant::refresh_token, .subject = SecretString("tGzv3JOkF0XG5Qx2TlKWIA")}) ==
      "grant_type=refresh_token&refresh_token=tGzv3JOkF0XG5Qx2TlKWIA");
}

TEST_CASE("token form: RFC 7523, section 2.1") {
  CHECK(body_of({.grant = Grant::jwt_bearer, .subject = SecretString("a.b.c"), .scope = "x y"}) ==
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=a.b.c&"
        "scope=x+y");
}

TEST_CASE("token form: RFC 8693, with every field") {
  CHECK(body_of({.grant = Grant::token_exchange, .subject = SecretString("s")}) ==
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=s&"
        "subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt");
  CHECK(body_of({.grant = Grant::token_exchange,
                 .subject = SecretString("accVkjcJyb4BWCxGsndESCJQbdFMogUC5PbRDqceLTC"),
                 .subject_token_type = "access_token",
                 .actor_token = SecretString("a"),
                 .actor_token_type = "urn:x:y",
                 .requested_token_type = "id_token",
                 .audiences = {"b", "a"},
                 .resources = {"https://backend.example.com/api", "https://x"},
                 .scope = "openid groups",
                 .parameters = {{"connector_id", "k8s"}, {"options", "%7B%22a%22%7D"}}}) ==
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&"
        "subject_token=accVkjcJyb4BWCxGsndESCJQbdFMogUC5PbRDqceLTC&"
        "subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&"
        "actor_token=a&actor_token_type=urn%3Ax%3Ay&"
        "requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aid_token&"
        "audience=b&audience=a&resource=https%3A%2F%2Fbackend.example.com%2Fapi&"
        "resource=https%3A%2F%2Fx&scope=openid+groups&connector_id=k8s&"
        "options=%257B%2522a%2522%257D");
}

TEST_CASE("token form: subjects that are missing, invalid, or out of place") {
  for (const Grant grant : {Grant::token_exchange, Grant::jwt_bearer, Grant::refresh_token}) {
    check_fails(token_form({.grant = grant}), Kind::no_credential, "is missing or empty");
    const Result<Form> form = token_form({.grant = grant, .subject = SecretString("SECRET\nx")});
    check_fails(form, Kind::no_credential, "has a control character");
    CHECK_FALSE(contains(full_text(form.error()), "SECRET"));
  }
  check_fails(token_form({.subject = SecretString("s")}), Kind::configuration,
              "without a subject token");
  check_fails(token_form({.actor_token = SecretString("a")}), Kind::configuration,
              "an actor token is for token exchange alone");
  check_fails(token_form({.grant = Grant::token_exchange,
                          .subject = SecretString("s"),
                          .actor_token = SecretString("a\rb")}),
              Kind::no_credential, "the actor token has a control character");
}

TEST_CASE("token form: fields that are empty or have a control character" *
          doctest::description("promise 20")) {
  check_fails(token_form({.audiences = {"a", ""}}), Kind::configuration, "'audience' is empty");
  check_fails(token_form({.resources = {"a\x7f"}}), Kind::configuration,
              "'resource' has a control character");
  check_fails(token_form({.scope = "a\nb"}), Kind::configuration, "'scope' has a control");
  check_fails(
      token_form(
          {.grant = Grant::token_exchange, .subject = SecretString("s"), .subject_token_type = ""}),
      Kind::configuration, "'subject_token_type' is empty");
}

TEST_CASE("token form: parameters that are reserved, repeated or invalid") {
  for (const char* name :
       {"grant_type", "subject_token", "subject_token_type", "actor_token", "actor_token_type",
        "requested_token_type", "audience", "resource", "scope", "assertion", "refresh_token",
        "client_id", "client_secret", "client_assertion", "client_assertion_type"}) {
    CAPTURE(name);
    check_fails(token_form(with_parameters({{name, "x"}})), Kind::configuration,
                "has an option of its own");
  }
  check_fails(token_form(with_parameters({{"a", "1"}, {"b", "2"}, {"a", "1"}})),
              Kind::configuration, "the parameter 'a' comes twice");
  check_fails(token_form(with_parameters({{"a b", "1"}})), Kind::configuration, "is no name");
  check_fails(token_form(with_parameters({{"", "1"}})), Kind::configuration, "is no name");
  check_fails(token_form(with_parameters({{"a", "1\n"}})), Kind::configuration, "control");
  CHECK(body_of(with_parameters({{"a", ""}})) == "grant_type=client_credentials&a=");
}

TEST_CASE("token form: --param K=V") {
  const Result<TokenParameter> parameter = parse_token_parameter("k=v=w");
  REQUIRE(parameter);
  CHECK(parameter->name == "k");
  CHECK(parameter->value == "v=w");
  CHECK(parse_token_parameter("k=")->value.empty());
  check_fails(parse_token_parameter("k"), Kind::configuration, "NAME=VALUE");
  check_fails(parse_token_parameter("=v"), Kind::configuration, "NAME=VALUE");
  check_fails(parse_token_parameter(""), Kind::configuration, "NAME=VALUE");
}

TEST_CASE("token form: URNs and their short forms") {
  CHECK(token_type_urn("saml2") == "urn:ietf:params:oauth:token-type:saml2");
  CHECK(token_type_urn("urn:ietf:params:aws:token-type:aws4_request") ==
        "urn:ietf:params:aws:token-type:aws4_request");
  CHECK(token_type_urn("").empty());
}

TEST_CASE("token form: the time to check parameters is linear in their number" *
          doctest::description("promise 30")) {
  const auto parameters = [](std::size_t count) {
    std::vector<TokenParameter> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back({"p" + std::to_string(i), "v"});
    return all;
  };
  check_linear(4'000, parameters,
               [](const std::vector<TokenParameter>& all) { REQUIRE(check_parameters(all)); });
}

}  // namespace
}  // namespace execcred::test

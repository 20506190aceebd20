// SPDX-License-Identifier: Apache-2.0
#include "provider.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/oauth/discovery.hpp>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using Kind = Error::Kind;

constexpr std::string_view kIssuer = "https://idp.example";

std::string document(const std::string& more = {}) {
  return R"({"issuer":"https://idp.example","token_endpoint":"https://idp.example/token")" + more +
         "}";
}

TEST_CASE("discovery: one trailing slash of the issuer is removed for the URL") {
  const std::string tail = "/.well-known/openid-configuration";
  CHECK(*discovery_url("https://idp.example") == "https://idp.example" + tail);
  CHECK(*discovery_url("https://idp.example/") == "https://idp.example" + tail);
  CHECK(*discovery_url("https://idp.example:8443/realms/a") ==
        "https://idp.example:8443/realms/a" + tail);
  CHECK(*discovery_url("https://idp.example/realms/a/") == "https://idp.example/realms/a" + tail);
  CHECK(*discovery_url("https://idp.example/a//") == "https://idp.example/a/" + tail);
}

TEST_CASE("discovery: issuers that are not https, have a query or are malformed are refused") {
  check_fails(discovery_url("http://idp.example"), Kind::configuration, "is no https URL");
  check_fails(discovery_url("http://127.0.0.1"), Kind::configuration, "is no https URL");
  check_fails(discovery_url("https://idp.example?x=y"), Kind::configuration, "has a query");
  check_fails(discovery_url("https://idp.example/?"), Kind::configuration, "query");
  for (const char* issuer : {"", "idp.example", "https://", "https://a b", "https://a/#f",
                             "https://a/../b", "https://a\n/"}) {
    CAPTURE(issuer);
    check_fails(discovery_url(issuer), Kind::configuration, "the issuer URL '");
  }
  const Result<std::string> url = discovery_url("https://me:SECRET@idp.example");
  check_fails(url, Kind::configuration, "the issuer URL '");
  CHECK_FALSE(contains(url.error().message, "SECRET"));
}

TEST_CASE("discovery: the members that are read") {
  const Result<DiscoveryDocument> least = parse_discovery(document(), kIssuer);
  REQUIRE(least);
  CHECK(least->token_endpoint == "https://idp.example/token");
  CHECK(least->token_endpoint_auth_methods.empty());
  const Result<DiscoveryDocument> whole = parse_discovery(document(R"(,"jwks_uri":1,
          "token_endpoint_auth_methods_supported":["private_key_jwt","tls_client_auth"],
          "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.idp.example/token"})"),
                                                          kIssuer);
  REQUIRE(whole);
  CHECK(whole->token_endpoint_auth_methods ==
        std::vector<std::string>{"private_key_jwt", "tls_client_auth"});
  CHECK(token_endpoint_for(*whole, ClientAuthMethod::tls_client_auth) ==
        "https://mtls.idp.example/token");
  CHECK(token_endpoint_for(*whole, ClientAuthMethod::private_key_jwt) ==
        "https://idp.example/token");
  CHECK(token_endpoint_for(*least, ClientAuthMethod::tls_client_auth) ==
        "https://idp.example/token");
  CHECK(parse_discovery(document(R"(,"mtls_endpoint_aliases":{})"), kIssuer));
}

TEST_CASE("discovery: an issuer that differs by one byte is refused") {
  for (const char* issuer :
       {"https://idp.example/", "https://IDP.example", "https://idp.example:443",
        "https://idp.exampl", "https://idp.example.evil.example"}) {
    CAPTURE(issuer);
    check_fails(parse_discovery(document(), issuer), Kind::no_credential,
                "is of the issuer 'https://idp.example', not of '");
  }
}

TEST_CASE("discovery: documents that are refused") {
  const auto fails = [](const std::string& text, std::string_view part) {
    check_fails(parse_discovery(text, kIssuer), Kind::no_credential, part);
  };
  fails("", "the JSON of the discovery document");
  fails("<html>", "the JSON of the discovery document");
  fails("[]", "must be an object");
  fails("{}", "issuer is missing");
  fails(document(R"(,"issuer":"https://idp.example")"), "the JSON of the discovery document");
  fails(document(R"(,"token_endpoint":"https://evil.example")"), "the JSON of the discovery");
  fails(document(R"(,"mtls_endpoint_aliases":{"a":1,"a":1})"), "the JSON of the discovery");
  fails(document(R"(,"token_endpoint_auth_methods_supported":"none")"), "must be an array");
  fails(document(R"(,"token_endpoint_auth_methods_supported":[1])"), "must be a string");
  fails(document(R"(,"mtls_endpoint_aliases":[])"), "mtls_endpoint_aliases must be an object");
  fails(document(R"(,"mtls_endpoint_aliases":{"token_endpoint":"http://a"})"),
        "mtls_endpoint_aliases.token_endpoint 'http://a' is no https URL");
  fails(document(",\"x\":" + std::string(40, '[') + std::string(40, ']')), "the JSON of");
  for (const char* endpoint : {"http://idp.example/token", "/token", "https://a b", "https://u@a/",
                               "https://a/#f", "ftp://a"}) {
    CAPTURE(endpoint);
    fails(std::string(R"({"issuer":"https://idp.example","token_endpoint":")") + endpoint + "\"}",
          "in the discovery document, token_endpoint '");
  }
  fails(R"({"issuer":"https://idp.example"})", "token_endpoint is missing");
  fails(R"({"issuer":"https://idp.example","token_endpoint":""})", "token_endpoint is empty");
}

Result<DiscoveryDocument> discover_at(const ScriptedProvider& provider) {
  const auto client = make_http_client(provider.settings());
  CallContext call;
  return discover(*client, provider.origin(), call, {.first_pause = 1ms, .longest_pause = 2ms});
}

TEST_CASE("discovery: the document is fetched over TLS, and must name the issuer") {
  ScriptedProvider provider({});
  const std::string issuer = provider.origin();
  provider.set_replies(
      {http_reply(503, ""), http_reply(200, R"({"issuer":")" + issuer + R"(","token_endpoint":")" +
                                                issuer + "/token\"}")});
  const Result<DiscoveryDocument> found = discover_at(provider);
  REQUIRE(found);
  CHECK(found->issuer == issuer);
  CHECK(found->token_endpoint == issuer + "/token");
  const ScriptedProvider stranger({http_reply(200, document())});
  check_fails(discover_at(stranger), Kind::no_credential, "is of the issuer 'https://idp.example'");
  REQUIRE(stranger.requests().size() == 1);
  CHECK(stranger.requests().front().starts_with(
      "GET /.well-known/openid-configuration HTTP/1.1\r\n"));
  CHECK(contains(stranger.requests().front(), "\r\nAccept: application/json\r\n"));
}

TEST_CASE("discovery: replies that are not a document are errors") {
  const auto fails = [](const std::string& reply, Kind kind, std::string_view part,
                        std::size_t requests) {
    CAPTURE(part);
    const ScriptedProvider provider({reply});
    check_fails(discover_at(provider), kind, part);
    CHECK(provider.requests().size() == requests);
  };
  fails(http_reply(404, ""), Kind::no_credential, "answered 404", 1);
  fails(http_reply(307, "", "Location: https://127.0.0.1:1/\r\n"), Kind::no_credential,
        "a redirect, which is never followed", 1);
  fails(http_reply(503, ""), Kind::unavailable, "answered 503", 4);
  fails(http_reply(200, "<html>"), Kind::no_credential, "the JSON that https://127.0.0.1:", 1);
  fails(http_reply(200, std::string(1024 * 1024 + 1, ' ')), Kind::no_credential,
        "reading the discovery document of https://127.0.0.1:", 1);
  const ScriptedProvider html(
      {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"});
  check_fails(discover_at(html), Kind::no_credential,
              "it is of the type 'text/html': check the URL");
}

}  // namespace
}  // namespace execcred::test

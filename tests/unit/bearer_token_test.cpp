// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/exec/bearer_token.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace execcred {
namespace {

void check_refused(std::string_view content, std::string_view part) {
  CAPTURE(content);
  test::check_fails(bearer_token(SecretString(content)), Error::Kind::no_credential, part);
}

TEST_CASE("bearer_token: accepts one word, and removes the white space around it") {
  for (const std::string_view content :
       {"abc.def-ghi_jkl", "  abc.def-ghi_jkl\n", "\r\n\tabc.def-ghi_jkl \v\f\r\n"}) {
    const Result<BearerToken> token = bearer_token(SecretString(content));
    REQUIRE(token);
    CHECK(token->text().reveal() == "abc.def-ghi_jkl");
  }
  CHECK(bearer_token(SecretString("a")));
  CHECK(bearer_token(SecretString(std::string(128UL * 1024, 'a'))));
  check_refused(std::string(128UL * 1024 + 1, 'a'), "the token has more than 128 KiB");
}

TEST_CASE("bearer_token: accepts only the 94 visible ASCII bytes") {
  int accepted = 0;
  for (int i = 0; i < 256; ++i) {
    CAPTURE(i);
    const std::string content = std::string("ab") + static_cast<char>(i) + "cd";
    const Result<BearerToken> token = bearer_token(SecretString(content));
    CHECK(token.has_value() == (i > 0x20 && i < 0x7f));
    if (!token) continue;
    ++accepted;
    CHECK(token->text().reveal() == content);
  }
  CHECK(accepted == 94);
}

TEST_CASE("bearer_token: refuses an empty text, and more than one word") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"the token is empty", {"", " ", "\r\n\t "}},
           {"this is more than one word, so it is no token",
            {"a b", "a\nb", "a\r\nX-Header: b", "Bearer abc", "a\tb"}},
           {"the token has a byte that no HTTP header may hold",
            {"\ufeffabc", "a\u00a0b", "\u00e9"}},
       }) {
    for (const std::string_view content : texts) {
      check_refused(content, told);
    }
  }
  check_refused(std::string_view("\0", 1), "the token has a byte that no HTTP header may hold");
  check_refused(std::string_view("abc\0", 4), "the token has a byte that no HTTP header may hold");
}

TEST_CASE("bearer_token: refuses other files that may be mounted by mistake") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"this is a PEM file, not a token",
            {"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n",
             "\n-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n", "-----BEGIN"}},
           {"this is a PEM file in base64, not a token",
            {
                "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=",
                "Ci0tLS0tQkVHSU4gRUMgUFJJVkFURSBLRVktLS0tLQpNSElFCg==",  // after a line break
                "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo",           // without padding
                "LS0tLS1CRUdJTiBLRVktLS0tLQp-Pz8_",                      // base64url
                "LS0tLS1CRUdJTiBLRVktLS0tLQo=LS0tLS1CRUdJTiBLRVk=",      // two, joined
            }},
           {"this is a kubeconfig, not a token",
            {"apiVersion: v1\nkind: Config\n", "apiVersion:v1"}},
           {"this is a kubeconfig in base64, not a token",
            {"YXBpVmVyc2lvbjogdjEKa2luZDogQ29uZmlnCg==",
             "a2luZDogQ29uZmlnCmFwaVZlcnNpb246IHYxCg==",          // kind first
             "eyJhcGlWZXJzaW9uIjoidjEiLCJraW5kIjoiQ29uZmlnIn0=",  // JSON
             "YXBpVmVyc2lvbjogdjEK"}},
           {"this is a key or a certificate in base64, not a token",
            {"MIIABAECAwQ=",  // DER
             "MIIABAECAwQ", "MIIABQECAwQF"}},
           {"this is a JSON document, not a token",
            {"{\"apiVersion\":\"v1\",\"kind\":\"Config\"}", "{\"token\":\"x\"}", "[\"x\"]"}},
           {"this is more than one word, so it is no token", {"clusters:\n- cluster: {}\n"}},
       }) {
    for (const std::string_view content : texts) {
      check_refused(content, told);
    }
  }
}

// JSON as a part of a JWT.
std::string part(std::string_view json) { return std::string(encode_base64url(json).reveal()); }

// Signed by an EC key of 256 bits: 64 bytes of signature.
std::string whole_jwt() {
  return part(R"({"alg":"ES256","kid":"a"})") + "." +
         part(R"({"aud":["x"],"exp":4102444800,"iss":"https://i","sub":"s"})") + "." +
         part(std::string(64, 's'));
}

TEST_CASE("bearer_token: a JWT that was read half written is refused at every cut") {
  const std::string token = whole_jwt();
  CHECK(bearer_token(SecretString(token)));
  const std::size_t signature = token.rfind('.') + 1;
  for (std::size_t size = 3; size <= signature; ++size) {
    CAPTURE(size);
    check_refused(token.substr(0, size), "the token begins as a JWT does, but is none: ");
  }
  // Within the signature, only a cut that leaves no base64url is found.
  check_refused(token.substr(0, signature + 5), "its signature is cut or damaged");
  CHECK(bearer_token(SecretString(token.substr(0, signature + 8))));
}

TEST_CASE("bearer_token_of_source: the error has a remedy for the writer of the source") {
  struct Case {
    std::string content;
    std::string_view hint;
    std::string_view cause = {};
  };
  for (const Case& c :
       {Case{"\n", "it must hold one bearer token", "source-missing"},
        Case{"two words", "it must hold one bearer token"},
        Case{"{}", "it must hold one bearer token"},
        Case{whole_jwt().substr(0, 40) + "\n", "it may have been read half written"}}) {
    CAPTURE(c.content);
    const SecretString content(c.content);
    const Result<BearerToken> refused = bearer_token_of_source(content);
    test::check_fails(refused, Error::Kind::no_credential, c.hint);
    CHECK(refused.error().cause == c.cause);
    // A server that gives such a token has no file.
    CHECK(bearer_token(content).error().hint == "");
    CHECK(bearer_token(content).error().cause == "");
  }
  CHECK(bearer_token_of_source(SecretString(whole_jwt())));
}

TEST_CASE("bearer_token: a word that begins as a JWT does must be a JWT or a JWE") {
  const std::string header = part(R"({"alg":"RS256"})");
  const std::string claims = part(R"({"sub":"a"})");
  const std::string encrypted = part(R"({"alg":"dir","enc":"A256GCM"})");
  for (const std::string& token :
       {header + "." + claims + ".c2ln", part(R"({"alg":"none"})") + "." + claims + ".",
        encrypted + "..aXY.dGV4dA.dGFn", encrypted + "....", std::string("ey.JhbGciOi"),
        std::string("eyj"), std::string("ya29.a0AfH6")}) {
    CAPTURE(token);
    CHECK(bearer_token(SecretString(token)));
  }
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"its header is no JSON object",
            {"eyJ", "eyJh.eyJh.eyJh", "eyJh.eyJh.eyJh.eyJh.eyJh",
             header + "=." + claims + ".c2ln"}},
           {"it does not have three parts",
            {header, header + "." + claims, header + "." + claims + ".c2ln.c2ln", header + "....",
             encrypted + "...", encrypted + ".....", encrypted + "..a+.dGV4dA.dGFn"}},
           {"the token's claims are not base64url", {header + "." + claims + "=.c2ln"}},
           {"the JSON of the token's claims", {header + "..c2ln", header + ".c2ln.c2ln"}},
           {"the token's claims are no JSON object", {header + "." + part("[]") + ".c2ln"}},
           {"its signature is cut or damaged",
            {header + "." + claims + ".",
             header + "." + claims + ".c2ln=", header + "." + claims + ".c2ln~c2ln"}},
       }) {
    for (const std::string& token : texts) check_refused(token, told);
  }
}

TEST_CASE("bearer_token: keeps the claims that it parsed, also when the token is taken out") {
  Result<BearerToken> token = bearer_token(SecretString(" " + whole_jwt() + "\n"));
  REQUIRE(token);
  const SecretString text = std::move(*token).take();
  CHECK(text.reveal() == whole_jwt());
  const Result<std::optional<UnverifiedClaims>> claims = token->claims();
  REQUIRE((claims && *claims));
  CHECK((*claims)->subject == "s");
  CHECK((*claims)->key_id == "a");

  const Result<BearerToken> opaque = bearer_token(SecretString("ya29.a0AfH6"));
  REQUIRE((opaque && opaque->claims()));
  CHECK_FALSE(opaque->claims()->has_value());

  // Its header begins with a blank, so it is no token that was cut; and its claims are no JSON.
  const Result<BearerToken> malformed =
      bearer_token(SecretString(part(R"( {"alg":"RS256"})") + "." + part("[") + ".c2ln"));
  REQUIRE(malformed);
  CHECK_FALSE(malformed->claims());
}

TEST_CASE("bearer_token: no error shows any part of the content") {
  for (const std::string_view content : {"canary one", "canary\x01", "-----BEGIN canary-----",
                                         "{\"a\":\"canary\"}", "canary\xff", "eyJcanary"}) {
    const Result<BearerToken> token = bearer_token(SecretString(content));
    REQUIRE_FALSE(token);
    CHECK(format_error("p", token.error()).find("canary") == std::string::npos);
  }
}

}  // namespace
}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include "unit/expect.hpp"
#include "unit/growth.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/spiffe/jwt_svid.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using std::chrono::seconds;

const std::string kId = "spiffe://example.org/controller";
const std::string kHeader = R"({"alg":"ES256","kid":"k","typ":"JWT"})";
const std::string kClaims =
    R"({"aud":["api"],"exp":1782907200,"iat":1782903600,"sub":"spiffe://example.org/controller"})";
constexpr TimePoint kNow = TimePoint(seconds(1'782'905'000));
constexpr TimePoint kEnd = TimePoint(seconds(1'782'907'200));

std::string base64url(std::string_view bytes) {
  return std::string(encode_base64url(bytes).reveal());
}

std::string jwt(const std::string& claims, const std::string& header = kHeader) {
  return base64url(header) + "." + base64url(claims) + ".c2lnbmF0dXJl";
}

Result<JwtSvid> check(const std::string& token, const std::vector<std::string>& audiences = {"api"},
                      TimePoint now = kNow) {
  return check_jwt_svid({.spiffe_id = kId, .svid = SecretString(token)}, audiences, now);
}

void check_taken(const std::string& token, const std::vector<std::string>& audiences = {"api"},
                 TimePoint now = kNow) {
  CAPTURE(token);
  const Result<JwtSvid> svid = check(token, audiences, now);
  if (!svid) FAIL(full_text(svid.error()));
  CHECK(svid->token.reveal() == token);
  CHECK(svid->spiffe_id == kId);
}

void check_refused(const std::string& token, std::string_view part,
                   const std::vector<std::string>& audiences = {"api"}, TimePoint now = kNow) {
  CAPTURE(token);
  const Result<JwtSvid> svid = check(token, audiences, now);
  check_fails(svid, Error::Kind::no_credential, part);
  const std::string told = full_text(svid.error());
  CHECK(contains(told, "while looking at the JWT-SVID of '" + kId + "'"));
  CHECK_FALSE(contains(svid.error().message, "\n"));
  if (token.size() > 30) CHECK_FALSE(contains(told, token.substr(token.size() / 2, 12)));
}

std::string with_claim(const std::string& name, const std::string& value) {
  return R"({"aud":["api"],"exp":1782907200,"sub":")" + kId + "\",\"" + name + "\":" + value + "}";
}

// All claims, but `name` with another value.
std::string with_value(const std::string& name, const std::string& value) {
  std::string claims = "{";
  for (const auto& [other, usual] : std::vector<std::pair<std::string, std::string>>{
           {"aud", R"(["api"])"}, {"exp", "1782907200"}, {"sub", "\"" + kId + "\""}}) {
    const std::string& text = other == name ? value : usual;
    if (text.empty()) continue;
    claims += (claims.size() > 1 ? ",\"" : "\"") + other + "\":" + text;
  }
  return claims + "}";
}

TEST_CASE("check_jwt_svid: a valid token is returned unchanged, with its expiry") {
  const Result<JwtSvid> svid = check(jwt(kClaims));
  REQUIRE(svid);
  CHECK(svid->token.reveal() == jwt(kClaims));
  CHECK(svid->spiffe_id == kId);
  CHECK((svid->expires_at == kEnd));
}

TEST_CASE("check_jwt_svid: only the algorithms of the standard") {
  for (const std::string alg :
       {"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"}) {
    check_taken(jwt(kClaims, R"({"alg":")" + alg + "\"}"));
  }
  for (const std::string alg :
       {R"("none")", R"("None")", R"("HS256")", R"("HS384")", R"("EdDSA")", R"("es256")",
        R"("ES256K")", R"("ES25")", R"("ES2566")", R"("")", "null", "5", R"(["ES256"])"}) {
    check_refused(jwt(kClaims, R"({"alg":)" + alg + "}"), "the JWT-SVID's algorithm ");
  }
  check_refused(jwt(kClaims, R"({"alg":"none"})"), "algorithm 'none'");
  check_refused(jwt(kClaims, R"({"typ":"JWT"})"), "algorithm");
  check_refused(jwt(kClaims, "{}"), "algorithm");
  check_refused(jwt(kClaims, R"({"alg":"ES256","alg":"none"})"), "the token's header");
}

TEST_CASE("check_jwt_svid: typ is JWT, JOSE or absent") {
  for (const std::string header : {R"({"alg":"ES256"})", R"({"alg":"ES256","typ":"JWT"})",
                                   R"({"alg":"ES256","typ":"JOSE"})"}) {
    check_taken(jwt(kClaims, header));
  }
  for (const std::string typ : {R"("jwt")", R"("at+jwt")", R"("JWS")", R"("application/jwt")",
                                R"("")", "5", "null", R"(["JWT"])", R"("JWT ")"}) {
    check_refused(jwt(kClaims, R"({"alg":"ES256","typ":)" + typ + "}"), "'typ'");
  }
}

TEST_CASE("check_jwt_svid: sub is the ID that the agent names") {
  for (const std::string sub :
       {"", "5", "null", R"("")", R"("controller")", R"(["x"])",
        R"("spiffe://example.org/controller/")", R"("SPIFFE://example.org/controller")"}) {
    check_refused(jwt(with_value("sub", sub)), "the JWT-SVID's 'sub' is no SPIFFE ID");
  }
  check_refused(jwt(with_value("sub", R"("spiffe://example.org/other")")),
                "the JWT-SVID is of 'spiffe://example.org/other', but the agent calls it "
                "'spiffe://example.org/controller'");
  check_refused(jwt(with_value("sub", R"("spiffe://example.org")")), "but the agent calls it");
  const Result<JwtSvid> unlike = check_jwt_svid(
      {.spiffe_id = "spiffe://example.org/Controller", .svid = SecretString(jwt(kClaims))}, {"api"},
      kNow);
  check_fails(unlike, Error::Kind::no_credential, "but the agent calls it");
}

TEST_CASE("check_jwt_svid: aud has every requested audience, as a string or an array") {
  check_taken(jwt(with_value("aud", R"("api")")));
  check_taken(jwt(with_value("aud", R"(["api"])")));
  check_taken(jwt(with_value("aud", R"(["x","api"])")));
  check_taken(jwt(with_value("aud", R"(["b","a"])")), {"a", "b"});
  check_taken(jwt(with_value("aud", R"(["a"])")), {"a", "a"});

  check_refused(jwt(with_value("aud", R"(["a"])")), "is not for the audience 'b' but for 'a'",
                {"a", "b"});
  check_refused(jwt(with_value("aud", R"(["b"])")), "is not for the audience 'a' but for 'b'",
                {"a", "b"});
  check_refused(jwt(with_value("aud", R"(["x","y"])")),
                "is not for the audience 'api' but for 'x, y'");
  for (const std::string aud : {"", "[]", "null"}) {
    check_refused(jwt(with_value("aud", aud)), "is not for the audience 'api' but for none");
  }
  for (const std::string aud : {R"("api ")", R"("API")", R"("ap")", R"("api,b")", R"("")"}) {
    check_refused(jwt(with_value("aud", aud)), "is not for the audience 'api'");
  }
  for (const std::string aud : {"5", R"(["api",5])", R"({"api":1})", R"([["api"]])"}) {
    check_refused(jwt(with_value("aud", aud)), "the token's 'aud' claim");
  }
}

TEST_CASE("check_jwt_svid: exp is a number in the future") {
  check_taken(jwt(with_value("exp", "1782905001")));
  check_taken(jwt(with_value("exp", "1782907200.75")));
  check_taken(jwt(with_value("exp", "1.7829072e9")));
  CHECK((check(jwt(with_value("exp", "1782907200.75")))->expires_at == kEnd));
  check_taken(jwt(kClaims), {"api"}, kEnd - seconds(1));

  check_refused(jwt(with_value("exp", "")), "the JWT-SVID has no 'exp'");
  for (const std::string exp : {"1782905000", "1782905000.9", "1782904999", "0", "-1", "-1e300"}) {
    check_refused(jwt(with_value("exp", exp)), "the token has expired: it ended at");
  }
  check_refused(jwt(kClaims), "ended at 2026-07-01T12:00:00Z", {"api"}, kEnd);
  for (const std::string exp : {R"("1782907200")", "null", "true", "[1782907200]", "1e999"}) {
    check_refused(jwt(with_value("exp", exp)), "the token's 'exp' claim");
  }
}

TEST_CASE("check_jwt_svid: nbf may be a minute ahead, iat is ignored") {
  for (const std::string nbf : {"1782905000", "1782905060", "0"}) {
    check_taken(jwt(with_claim("nbf", nbf)));
  }
  check_refused(jwt(with_claim("nbf", "1782905061")), "the token is not valid yet: it begins at");
  check_refused(jwt(with_claim("nbf", R"("1782905000")")), "the token's 'nbf' claim");
  for (const std::string iat : {"1782999999", R"("x")", "null"}) {
    check_taken(jwt(with_claim("iat", iat)));
  }
}

TEST_CASE("check_jwt_svid: a claim that comes twice is refused") {
  for (const std::string& claims :
       {with_claim("sub", "\"" + kId + "\""), with_claim("aud", R"("api")"),
        with_claim("exp", "1782907200"), R"({"x":1,"x":1,)" + kClaims.substr(1)}) {
    check_refused(jwt(claims), "the token's claims");
  }
}

TEST_CASE("check_jwt_svid: compact form only") {
  const std::string header = base64url(kHeader);
  const std::string claims = base64url(kClaims);
  const std::string json =
      R"({"protected":")" + header + R"(","payload":")" + claims + R"(","signature":"c2ln"})";
  const std::string general = R"({"payload":")" + claims + R"(","signatures":[{"protected":")" +
                              header + R"(","signature":"c2ln"}]})";
  for (const std::string& token :
       {json, general, std::string(), std::string("opaque"), std::string(".."), header,
        header + "." + claims, header + "." + claims + ".", header + "." + claims + ".c2ln.c2ln",
        header + "." + claims + "..c2ln", header + "." + claims + ".c2ln.", "." + claims + ".c2ln",
        header + "." + claims + ".c2ln=", header + "." + claims + ".c2l+",
        header + "." + claims + ".c2ln\n", header + "." + claims + ".c 2ln",
        " " + header + "." + claims + ".c2ln", header + "=." + claims + ".c2ln",
        base64url("[]") + "." + claims + ".c2ln"}) {
    check_refused(token, "what the agent gave is no JWT in compact form");
  }
  check_refused(header + "." + claims + "=.c2ln", "the token's claims are not base64url");
  check_refused(header + "..c2ln", "the JSON of the token's claims");
  check_refused(jwt("[]"), "the token's claims are no JSON object");
  check_refused(jwt("{"), "the JSON of the token's claims");
}

TEST_CASE("check_jwt_svid: the time is linear in the number of audiences" *
          doctest::description("promise 30")) {
  const auto audiences = [](std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back("a" + std::to_string(i));
    return names;
  };
  check_linear(2'000, audiences, [](const std::vector<std::string>& names) {
    std::string claims;
    for (const std::string& name : names) claims += (claims.empty() ? "\"" : ",\"") + name + "\"";
    claims = R"({"aud":[)" + claims + R"(],"exp":1782907200,"sub":")" + kId + "\"}";
    REQUIRE(check(jwt(claims), names));
  });
}

}  // namespace
}  // namespace execcred

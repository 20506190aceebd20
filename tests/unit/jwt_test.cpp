// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "growth.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/exec/jwt.hpp>

#include <vector>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

std::string base64url(std::string_view bytes) {
  std::string text = encode_base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

std::string jwt(std::string_view claims, std::string_view header = R"({"alg":"RS256"})") {
  return base64url(header) + "." + base64url(claims) + ".c2ln";
}

Result<std::optional<UnverifiedClaims>> read(std::string_view token) {
  return unverified_claims(SecretString(token));
}

// The claims of a JWT that must be well-formed.
UnverifiedClaims claims_of(std::string_view claims) {
  CAPTURE(claims);
  const Result<std::optional<UnverifiedClaims>> result = read(jwt(claims));
  REQUIRE(result);
  REQUIRE(result->has_value());
  return **result;
}

TEST_CASE("unverified_claims: reads the claims of a token that the API server issued") {
  const UnverifiedClaims claims = claims_of(
      R"({"aud":["https://kubernetes.default.svc"],"exp":1782907200,"iat":1782903600,)"
      R"("iss":"https://issuer","jti":"x","kubernetes.io":{"namespace":"a"},"nbf":1782903600,)"
      R"("sub":"system:serviceaccount:a:b"})");
  CHECK(claims.expires_at == TimePoint(1782907200s));
  CHECK(claims.not_before == TimePoint(1782903600s));
  CHECK(claims.audiences == std::vector<std::string>{"https://kubernetes.default.svc"});
  CHECK(claims.issuer == "https://issuer");
  CHECK(claims.subject == "system:serviceaccount:a:b");

  const UnverifiedClaims nothing = claims_of("{}");
  CHECK_FALSE(nothing.expires_at);
  CHECK_FALSE(nothing.not_before);
  CHECK(nothing.audiences.empty());
  CHECK(nothing.issuer.empty());
}

TEST_CASE("unverified_claims: exp and nbf are rounded down to seconds in the range of TimePoint") {
  struct Case {
    std::string_view number;
    seconds wanted;
  };
  constexpr seconds kLast = 9223372036s;
  for (const Case& c : {Case{"0", 0s},
                        Case{"-0", 0s},
                        Case{"1782907200", 1782907200s},
                        Case{"1782907200.0", 1782907200s},
                        Case{"1782907200.999", 1782907200s},
                        Case{"1.7829072e9", 1782907200s},
                        Case{"1E3", 1000s},
                        Case{"-1", -1s},
                        Case{"-1.5", -2s},
                        Case{"0.5", 0s},
                        Case{"9223372036", kLast},
                        Case{"9223372037", kLast},
                        Case{"253402300799", kLast},
                        Case{"1782907200000", kLast},
                        Case{"9223372036854775807", kLast},
                        Case{"18446744073709551615", kLast},
                        Case{"18446744073709551616", kLast},
                        Case{"99999999999999999999999999999999999999999999", kLast},
                        Case{"1e300", kLast},
                        Case{"-9223372037", -kLast},
                        Case{"-1e300", -kLast},
                        Case{"-99999999999999999999999999999999999999999999", -kLast},
                        Case{"1e-300", 0s}}) {
    CAPTURE(c.number);
    const std::string number(c.number);
    CHECK(claims_of("{\"exp\":" + number + "}").expires_at == TimePoint(c.wanted));
    CHECK(claims_of("{\"nbf\":" + number + "}").not_before == TimePoint(c.wanted));
  }
}

TEST_CASE("unverified_claims: malformed claims are an error, not a token without an expiration") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"the token's 'exp' claim is a string, not a number",
            {R"({"exp":"1782907200"})", R"({"exp":""})"}},
           {"the token's 'exp' claim is null, not a number", {R"({"exp":null})"}},
           {"the token's 'exp' claim is a boolean, not a number", {R"({"exp":true})"}},
           {"the token's 'exp' claim is an array, not a number", {R"({"exp":[1]})"}},
           {"the token's 'exp' claim is an object, not a number", {R"({"exp":{}})"}},
           {"the token's 'nbf' claim is a string, not a number", {R"({"nbf":"1"})"}},
           {"the token's 'nbf' claim is null, not a number", {R"({"nbf":null})"}},
           {"the token's 'exp' claim is a number that is too large", {R"({"exp":1e999})"}},
           {"the JSON of the token's claims is no valid JSON",
            {R"({"exp":NaN})", R"({"exp":Infinity})", R"({"exp":0x10})", R"({"exp":01})", "{",
             "{}x", "{\"exp\":1", "{'exp':1}", "\xff"}},
           {"the JSON of the token's claims has the key 'exp' more than once in the object that "
            "ends",
            {R"({"exp":1,"exp":2})", R"({"exp":1,"\u0065xp":2})"}},
           {"the JSON of the token's claims has the key 'aud' more than once in the object that "
            "ends",
            {R"({"aud":"a","aud":"b"})"}},
           {"the JSON of the token's claims has the key 'sub' more than once in the object that "
            "ends",
            {R"({"sub":"a","sub":"a"})"}},
           {"the JSON of the token's claims has the key 'namespace' more than once in the object "
            "that ends",
            {R"({"kubernetes.io":{"namespace":"a","namespace":"b"}})"}},
           {"the token's 'aud' claim must be a string or an array of strings, not a number",
            {R"({"aud":5})"}},
           {"the token's 'aud' claim must be a string or an array of strings, not an object",
            {R"({"aud":{"a":1}})"}},
           {"the token's 'aud' claim[1] must be a string, not a number", {R"({"aud":["a",5]})"}},
           {"the token's 'aud' claim[0] must be a string, not null", {R"({"aud":[null]})"}},
           {"the token's 'aud' claim[0] must be a string, not an array", {R"({"aud":[["a"]]})"}},
           {"the token's 'aud' claim must be a string or an array of strings, not a boolean",
            {R"({"aud":true})"}},
           {"the token's 'aud' claim has a control character", {R"({"aud":"a\n"})"}},
           {"the token's claims are no JSON object", {"[]", "null", "5", "\"x\""}},
           {"the JSON of the token's claims is empty", {"", " "}},
           {"the JSON of the token's claims starts with a byte order mark", {"\ufeff{}"}},
       }) {
    for (const std::string_view claims : texts) {
      CAPTURE(claims);
      test::check_fails(read(jwt(claims)), Error::Kind::no_credential, told);
    }
  }
  test::check_fails(read(jwt(std::string_view("{}\0{\"exp\":1}", 12))), Error::Kind::no_credential,
                    "the JSON of the token's claims is no valid JSON");
  test::check_fails(read(jwt("{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}")),
                    Error::Kind::no_credential, "is nested deeper than");
  const std::string header = base64url("{}");
  for (const std::string_view payload : {"e30=", "e3", "e30\n", "e+0", "e30.", "!"}) {
    CAPTURE(payload);
    const std::string token = header + "." + std::string(payload) + ".c2ln";
    if (payload == "e30.") {
      CHECK_FALSE(read(token).value());  // four parts: not a JWT
    } else {
      test::check_fails(read(token), Error::Kind::no_credential,
                        "the token's claims are not base64url");
    }
  }
}

TEST_CASE("unverified_claims: a token with an invalid JSON header is an error, not opaque") {
  const std::string claims = base64url(R"({"exp":1})");
  for (const std::string_view header : {"{", R"({"alg":"none","alg":"x"})", "{}x", " {"}) {
    CAPTURE(header);
    const Result<std::optional<UnverifiedClaims>> result =
        read(base64url(header) + "." + claims + ".c2ln");
    test::check_fails(result, Error::Kind::no_credential, "the JSON of the token's header ");
    CHECK_FALSE(result.error().hint.empty());
  }
}

TEST_CASE("unverified_claims: aud is a string or an array of strings") {
  CHECK(claims_of(R"({"aud":"a"})").audiences == std::vector<std::string>{"a"});
  CHECK(claims_of(R"({"aud":"a,b"})").audiences == std::vector<std::string>{"a,b"});
  CHECK(claims_of(R"({"aud":["a","b"]})").audiences == std::vector<std::string>{"a", "b"});
  CHECK(claims_of(R"({"aud":[]})").audiences.empty());
}

TEST_CASE("unverified_claims: names of claims are case-sensitive") {
  const UnverifiedClaims claims = claims_of(R"({"EXP":1,"Aud":"a","ISS":"b"})");
  CHECK_FALSE(claims.expires_at);
  CHECK(claims.audiences.empty());
  CHECK(claims.issuer.empty());
}

TEST_CASE("unverified_claims: a token that is not a JWT is opaque, and has no claims") {
  const std::string header = base64url(R"({"alg":"none"})");
  const std::string claims = base64url(R"({"exp":1})");
  for (const std::string& token :
       {std::string("opaque"), std::string(), std::string("."), std::string(".."),
        std::string("a.b.c"), std::string("not.a.jwt"), header, header + "." + claims,
        header + "." + claims + ".c2ln.x", header + "." + claims + ".a.b.c", "." + claims + ".c2ln",
        base64url("[]") + "." + claims + ".c2ln", base64url("\"x\"") + "." + claims + ".c2ln",
        header + "=." + claims + ".c2ln", " " + header + "." + claims + ".c2ln"}) {
    CAPTURE(token);
    const Result<std::optional<UnverifiedClaims>> result = read(token);
    REQUIRE(result);
    CHECK_FALSE(result->has_value());
  }
}

TEST_CASE("unverified_claims: an unsigned token is a JWT too, and its exp is read") {
  const std::string token =
      base64url(R"({"alg":"none"})") + "." + base64url(R"({"exp":1000})") + ".";
  const Result<std::optional<UnverifiedClaims>> result = read(token);
  REQUIRE(result);
  REQUIRE(result->has_value());
  CHECK((*result)->expires_at == TimePoint(1000s));
}

TEST_CASE("unverified_claims: no error shows any part of the token") {
  for (const std::string_view claims :
       {R"({"exp":"canary"})", R"({"aud":[5],"sub":"canary"})", R"({"sub":"canary",})"}) {
    const Result<std::optional<UnverifiedClaims>> result = read(jwt(claims));
    REQUIRE_FALSE(result);
    const std::string text = format_error("p", result.error());
    CHECK(text.find("canary") == std::string::npos);
    CHECK(text.find(base64url(claims)) == std::string::npos);
  }
}

TEST_CASE("check_lifetime: a token expires at exp, and its nbf may be 60 s ahead") {
  struct Case {
    std::string_view claims;
    bool is_alive;
  };
  const TimePoint now(1000s);
  for (const Case& c :
       {Case{"{}", true}, Case{R"({"exp":1001})", true}, Case{R"({"exp":1000})", false},
        Case{R"({"exp":1000.9})", false}, Case{R"({"exp":999})", false},
        Case{R"({"exp":0})", false}, Case{R"({"exp":-1})", false}, Case{R"({"exp":-1e300})", false},
        Case{R"({"exp":1e300})", true}, Case{R"({"nbf":1000})", true},
        Case{R"({"nbf":1060})", true}, Case{R"({"nbf":1061})", false},
        Case{R"({"nbf":1e300})", false}, Case{R"({"nbf":-1e300})", true},
        Case{R"({"nbf":1061,"exp":5000})", false}}) {
    CAPTURE(c.claims);
    const Status status = check_lifetime(claims_of(c.claims), now);
    CHECK(status.has_value() == c.is_alive);
    if (status) continue;
    const bool has_ended = c.claims.find("nbf") == std::string_view::npos;
    test::check_fails(status, Error::Kind::no_credential,
                      has_ended ? "the token has expired: it ended at "
                                : "the token is not valid yet: it begins at ");
  }
  CHECK(check_lifetime(claims_of(R"({"exp":1000})"), now - 1ns));
}

TEST_CASE("is_single_use: true for an assertion with a jti, and for one that cannot be read") {
  for (const char* claims : {R"({"jti":"a"})", R"({"iss":"i","jti":""})", R"({"jti":null})"}) {
    CHECK(is_single_use(SecretString(jwt(claims))));
  }
  for (const char* unreadable : {"", "opaque", "a.b.c", "a.b.c.d.e", "<saml>"}) {
    CHECK(is_single_use(SecretString(unreadable)));
  }
  CHECK(is_single_use(SecretString(jwt("[]"))));
  CHECK_FALSE(is_single_use(SecretString(jwt(R"({"iss":"i","sub":"s"})"))));
}

TEST_CASE("check_lifetime: the error says when the token expired or becomes valid") {
  const TimePoint now = *parse_rfc3339("2026-07-01T12:00:00Z");
  const Status ended = check_lifetime(claims_of(R"({"exp":1782900000})"), now);
  CHECK(ended.error().message.find("2026-07-01T10:00:00Z") != std::string::npos);
  const Status early = check_lifetime(claims_of(R"({"nbf":1782990000})"), now);
  CHECK(early.error().message.find("2026-07-02T11:00:00Z") != std::string::npos);
  CHECK(early.error().cause == "credential-not-yet-valid");
}

TEST_CASE("check_lifetime: only the token of a source has expired because nothing renewed it") {
  const TimePoint now = *parse_rfc3339("2026-07-01T12:00:00Z");
  const UnverifiedClaims ended = claims_of(R"({"exp":1782900000})");
  CHECK(check_lifetime(ended, now).error().hint == "");
  CHECK(check_lifetime(ended, now).error().cause == "");
  const Status of_file = of_source(check_lifetime(ended, now));
  CHECK(test::contains(of_file.error().hint, "whatever renews it"));
  CHECK(of_file.error().cause == "source-expired");
  const UnverifiedClaims early = claims_of(R"({"nbf":1782990000})");
  CHECK(of_source(check_lifetime(early, now)).error().cause == "credential-not-yet-valid");
}

TEST_CASE("has_any_audience: one common audience is enough, and a part of one is not") {
  const UnverifiedClaims claims = claims_of(R"({"aud":["server","other","a"]})");
  CHECK(has_any_audience(claims, {"a"}));
  CHECK(has_any_audience(claims, {"x", "server"}));
  CHECK_FALSE(has_any_audience(claims, {"serve", "server2", "Server", ""}));
  CHECK_FALSE(has_any_audience(claims, {}));
  CHECK_FALSE(has_any_audience(claims_of("{}"), {"a"}));
}

TEST_CASE("has_any_audience: its time is linear in the numbers of audiences" *
          doctest::description("promise 30")) {
  struct Lists {
    UnverifiedClaims claims;
    std::vector<std::string> audiences;
  };
  test::check_linear(
      4000,
      [](std::size_t size) {
        Lists lists;
        for (std::size_t i = 0; i < size; ++i) {
          lists.claims.audiences.push_back("of the token " + std::to_string(i));
          lists.audiences.push_back("of the client " + std::to_string(i));
        }
        return lists;
      },
      [](const Lists& lists) { CHECK_FALSE(has_any_audience(lists.claims, lists.audiences)); });
}

}  // namespace
}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// A service account's key, and the credentials that gcloud writes after a login.
#include "google.hpp"

#include "support/jws_keys.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace execcred::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOauthUrl = "https://oauth2.googleapis.com/token";

Ask by(const Members& credentials, Texts arguments = {}) {
  return {.credentials = object(credentials), .arguments = std::move(arguments)};
}

bool is_now(const Json& seconds, std::int64_t offset) {
  return std::abs(seconds.get<std::int64_t>() - offset - blackbox::seconds_since_epoch()) <= 5;
}

// The text of a key as a JSON string.
std::string member(const SecretString& pem) { return text(pem.reveal()); }

}  // namespace

TEST_CASE("service_account: the request has only an assertion that its key signed") {
  Google google;
  const Outcome outcome = google.run(by(Google::service_account()));
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == google_token(kOauth, 1));
  CHECK(google.cloud.hosts() == Texts{"oauth2.googleapis.com:443"});
  const Received asked = google.cloud.api().last(kOauth);
  CHECK(asked.header("Content-Type") == "application/x-www-form-urlencoded");
  CHECK(asked.header("Authorization") == "");
  const std::string assertion = asked.field("assertion");
  CHECK(fields_in_order(asked) ==
        Texts{"assertion=" + assertion, "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer"});
  CHECK(is_signed_by(assertion, "RS256", parse_key(rfc7515_rsa_key())));
  CHECK(Json::parse(part_of(assertion, 0)) ==
        Json({{"alg", "RS256"}, {"kid", "key-1"}, {"typ", "JWT"}}));
  const Json claims = Json::parse(part_of(assertion, 1));
  CHECK(claims.size() == 5);
  CHECK(claims["iss"] == kAccount);
  CHECK(claims["aud"] == kOauthUrl);
  CHECK(claims["scope"] == kBothScopes);
  CHECK(is_now(claims["iat"], 0));
  CHECK(is_now(claims["exp"], 3600));
}

TEST_CASE("service_account: without a key ID, and with Google's older endpoints") {
  Google google;
  CHECK_SUCCESS(google.run(by(with(Google::service_account(), "private_key_id", ""))));
  CHECK(Json::parse(part_of(google.cloud.api().last(kOauth).field("assertion"), 0)) ==
        Json({{"alg", "RS256"}, {"typ", "JWT"}}));
  struct Case {
    std::string url, host, path;
  };
  for (const Case& c : {Case{"https://accounts.google.com/o/oauth2/token", "accounts.google.com",
                             "/o/oauth2/token"},
                        Case{"https://www.googleapis.com/oauth2/v4/token", "www.googleapis.com",
                             "/oauth2/v4/token"}}) {
    google.cloud.api().on(c.path, reply(200, token_body("ya29.earlier")));
    const Outcome outcome =
        google.run(by(with(Google::service_account(), "token_uri", text(c.url))));
    CHECK(token_of(outcome) == "ya29.earlier");
    CHECK(google.cloud.hosts().back() == c.host + ":443");
    const std::string assertion = google.cloud.api().last(c.path).field("assertion");
    CHECK(Json::parse(part_of(assertion, 1))["aud"] == kOauthUrl);
  }
}

TEST_CASE("service_account: with impersonation the assertion is for IAM only") {
  Google google;
  CHECK_SUCCESS(google.run(by(Google::service_account(kOtherAccount),
                              {std::string("--impersonate-service-account=") + kAccount})));
  const std::string assertion = google.cloud.api().last(kOauth).field("assertion");
  CHECK(Json::parse(part_of(assertion, 1))["scope"] == kIamScope);
}

TEST_CASE("service_account: in another universe the key signs the access token itself") {
  Google google;
  const Outcome outcome =
      google.run(by(with(Google::service_account(), "universe_domain", text("s3nsapis.example"))));
  CHECK_SUCCESS(outcome);
  CHECK(is_claimed(outcome, 3600));
  const std::string token = token_of(outcome);
  CHECK(is_signed_by(token, "RS256", parse_key(rfc7515_rsa_key())));
  const Json claims = Json::parse(part_of(token, 1));
  CHECK(claims.size() == 5);
  CHECK(claims["iss"] == kAccount);
  CHECK(claims["sub"] == kAccount);
  CHECK(claims["scope"] == kBothScopes);
  CHECK(is_now(claims["iat"], 0));
  CHECK(is_now(claims["exp"], 3600));
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("service_account: a key that is invalid, not RSA, weak, encrypted or cut off") {
  Google google;
  const std::string whole = std::string(rfc7515_rsa_key().reveal());
  struct Case {
    std::string key;
    int exit_code;
    std::string said;
  };
  for (const Case& c :
       {Case{member(rfc7515_ec_key()), 2, "an EC key"}, Case{member(rfc8037_key()), 2, "Edwards"},
        Case{member(pkcs8_pem(new_rsa_key(1024))), 1, "it has 1024 bits"},
        Case{member(encrypted_key()), 1, "is encrypted"},
        Case{text("not a key"), 1, "neither PKCS#8 nor SEC 1"},
        Case{text(whole.substr(0, 900)), 1, "PEM without the END line"},
        Case{text("  "), 2, "private_key is empty"},
        Case{"7", 2, "private_key must be a string"}}) {
    CAPTURE(c.said);
    CHECK_FAILURE(google.run(by(with(Google::service_account(), "private_key", c.key))),
                  c.exit_code, c.said);
  }
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("service_account: with a key that Google does not know, three runs call Google once") {
  Google google;
  google.cloud.api().on(kOauth, reply(400, R"({"error":"invalid_grant","error_description":)"
                                           R"("Invalid JWT Signature."})"));
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = google.run(by(Google::service_account()));
    CHECK_FAILURE(outcome, 1, "https://oauth2.googleapis.com:443 answered 400 with the");
    CHECK(blackbox::says(outcome, "Invalid JWT Signature"));
  }
  CHECK(google.cloud.calls() == 1);
}

TEST_CASE("authorized_user: the refresh token, in google-auth's order, without scopes") {
  Google google;
  const Outcome outcome = google.run(by(google.user()));
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == google_token(kOauth, 1));
  CHECK(google.cloud.hosts() == Texts{"oauth2.googleapis.com:443"});
  const Texts fields = {
      "grant_type=refresh_token", "client_id=764086051850-x.apps.googleusercontent.com",
      "client_secret=" + google.client_secret, "refresh_token=" + google.refresh_token};
  CHECK(fields_in_order(google.cloud.api().last(kOauth)) == fields);
  CHECK(google.cloud.api().last(kOauth).header("Authorization") == "");
  CHECK_SUCCESS(google.run(by(google.user(), {"--scope=a", "--scope=b"})));
  CHECK(fields_in_order(google.cloud.api().last(kOauth)) == fields + Texts{"scope=a b"});
  for (const std::string scopes : {R"(["c","d"])", R"("c d")"}) {
    CHECK_SUCCESS(google.run_cold(by(with(google.user(), "scopes", scopes))));
    CHECK(fields_in_order(google.cloud.api().last(kOauth)) == fields + Texts{"scope=c d"});
  }
  const std::string proof = new_secret();
  CHECK_SUCCESS(google.run(by(with(google.user(), "rapt_token", text(proof)))));
  CHECK(fields_in_order(google.cloud.api().last(kOauth)) == fields + Texts{"rapt=" + proof});
}

TEST_CASE("authorized_user: its token_uri is ignored, and another universe is refused") {
  Google google;
  CHECK_SUCCESS(google.run(by(with(google.user(), "token_uri", text("https://evil.example/t")))));
  CHECK(google.cloud.hosts() == Texts{"oauth2.googleapis.com:443"});
  CHECK_FAILURE(google.run(by(with(google.user(), "universe_domain", text("s3nsapis.example")))), 2,
                "universe_domain is 's3nsapis.example', but authorized_user");
}

TEST_CASE("authorized_user: a run sends the refresh token once, also if the answer is an error") {
  Google google;
  for (const bool has_cache : {true, false}) {
    for (const int status : {429, 500, 502, 503, 504}) {
      CAPTURE(has_cache);
      CAPTURE(status);
      const std::size_t before = google.cloud.calls();
      google.cloud.api().on(kOauth, reply(status, "", "Retry-After: 0\r\n"));
      Ask ask = by(google.user());
      if (!has_cache) ask.arguments.emplace_back("--no-cache");
      CHECK_REFUSAL(google.run_cold(ask), 3, "answered " + std::to_string(status));
      CHECK(google.cloud.calls() == before + 1);
    }
  }
}

TEST_CASE("authorized_user: a failed impersonation does not send the refresh token again") {
  Google google;
  google.cloud.api().on(impersonation_path(), reply(503, "{}"));
  CHECK_FAILURE(
      google.run(by(google.user(), {"--impersonate-service-account=" + std::string(kAccount)})), 3,
      "https://iamcredentials.googleapis.com:443 answered 503");
  CHECK(google.cloud.api().count(kOauth) == 1);
  CHECK(google.cloud.api().count(impersonation_path()) == 1);
}

TEST_CASE("authorized_user: an ended login hints at gcloud, and four runs call Google once") {
  Google google;
  google.cloud.api().on(
      kOauth,
      reply(400, R"({"error":"invalid_grant","error_description":"Token has been expired or )"
                 R"(revoked.","error_subtype":"invalid_rapt"})"));
  for (int i = 0; i < 4; ++i) {
    CHECK_REFUSAL(google.run(by(google.user())), 1, "gcloud auth application-default login");
  }
  CHECK(google.cloud.calls() == 1);
}

}  // namespace execcred::test

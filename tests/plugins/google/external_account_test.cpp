// SPDX-License-Identifier: Apache-2.0
// external_account credentials: the exchange at Google's STS, with a subject token from a file.
#include "google.hpp"

#include <doctest/doctest.h>

#include <execcred/base/encoding.hpp>

namespace execcred::test {
namespace {

constexpr const char* kWorkforce =
    "//iam.googleapis.com/locations/global/workforcePools/wf/providers/p";

Ask by(const Members& credentials, Texts arguments = {}) {
  return {.credentials = object(credentials), .arguments = std::move(arguments)};
}

}  // namespace

TEST_CASE("exchange: exactly the fields of google-auth, in its order, without a client") {
  Google google;
  const Outcome outcome = google.run(by(google.file_account()));
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == google_token(kSts, 1));
  CHECK(is_claimed(outcome, 3600));
  REQUIRE(google.cloud.calls() == 1);
  CHECK(google.cloud.hosts() == Texts{"sts.googleapis.com:443"});
  const Received asked = google.cloud.api().last(kSts);
  CHECK(asked.method == "POST");
  CHECK(asked.header("Host") == "sts.googleapis.com");
  CHECK(asked.header("Content-Type") == "application/x-www-form-urlencoded");
  CHECK(asked.header("Authorization") == "");
  CHECK(fields_in_order(asked) ==
        Texts{"grant_type=urn:ietf:params:oauth:grant-type:token-exchange",
              "audience=" + std::string(kAudience), "scope=" + std::string(kBothScopes),
              "requested_token_type=urn:ietf:params:oauth:token-type:access_token",
              "subject_token=" + google.subject,
              "subject_token_type=urn:ietf:params:oauth:token-type:jwt"});
}

TEST_CASE("exchange: --scope replaces the scopes") {
  Google google;
  CHECK_SUCCESS(google.run(by(google.file_account(), {"--scope=a", "--scope=https://b/c"})));
  CHECK(google.cloud.api().last(kSts).field("scope") == "a https://b/c");
  for (const std::string scope : {"a b", "a,b", "a\"", "ä", "a\\b"}) {
    CAPTURE(scope);
    CHECK_FAILURE(google.run(by(google.file_account(), {"--scope=" + scope})), 2, "is no scope");
  }
}

TEST_CASE("exchange: the JSON format reads one member, which must be a string") {
  Google google;
  const auto source = [&](const std::string& content, const std::string& format) {
    const std::string path = google.sandbox.write("subject.json", content);
    return by(with(google.file_account(), "credential_source",
                   object({{"file", text(path)}, {"format", format}})));
  };
  const std::string format = R"({"type":"json","subject_token_field_name":"access"})";
  CHECK_SUCCESS(google.run_cold(source(R"({"access":")" + google.subject + "\"}", format)));
  CHECK(google.cloud.api().last(kSts).field("subject_token") == google.subject);
  for (const std::string content : {R"({"acces":"x"})", R"({"access":1})", R"({"access":""})", "[]",
                                    R"({"access":"a","access":"b"})", "not JSON", ""}) {
    CAPTURE(content);
    CHECK_FAILURE(google.run_cold(source(content, format)), 1, "reading the subject token in");
  }
  for (const std::string wrong : {R"({"type":"json"})", R"({"type":"xml"})", "[]", "7",
                                  R"({"type":"json","subject_token_field_name":7})"}) {
    CAPTURE(wrong);
    CHECK_FAILURE(google.run_cold(source("{}", wrong)), 2, "credential_source.format");
  }
}

TEST_CASE("exchange: an invalid, missing or expired subject token is not sent") {
  Google google;
  for (const std::string& content :
       {std::string(), std::string("two words"), std::string("-----BEGIN PRIVATE KEY-----\nx"),
        std::string("apiVersion: v1"), new_subject(-5), std::string("{\"a\":1}")}) {
    CAPTURE(content.substr(0, 20));
    google.sandbox.write("subject", content);
    CHECK_FAILURE(google.run_cold(by(google.file_account())), 1, "the subject token");
  }
  const std::string missing = object({{"file", text("/nowhere/token")}});
  CHECK_FAILURE(google.run(by(with(google.file_account(), "credential_source", missing))), 2,
                "cannot read '/nowhere/token': No such file or directory");
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("exchange: a SAML assertion may have several words") {
  Google google;
  const std::string type = "urn:ietf:params:oauth:token-type:saml2";
  google.sandbox.write("subject", "<saml a=\"b\">\n</saml>\n");
  CHECK_SUCCESS(google.run(by(with(google.file_account(), "subject_token_type", text(type)))));
  const Received asked = google.cloud.api().last(kSts);
  CHECK(asked.field("subject_token") == "<saml a=\"b\">\n</saml>");
  CHECK(asked.field("subject_token_type") == type);
}

TEST_CASE("exchange: the header has client ID and secret unescaped, an ID alone is not sent") {
  Google google;
  const Members both = with(with(google.file_account(), "client_id", text("id")), "client_secret",
                            text("c s+" + google.client_secret));
  CHECK_SUCCESS(google.run(by(both)));
  CHECK(google.cloud.api().last(kSts).header("Authorization") ==
        "Basic " + encode_base64("id:c s+" + google.client_secret));
  CHECK(google.cloud.api().last(kSts).field("client_id") == "(missing)");
  CHECK_SUCCESS(google.run(by(with(google.file_account(), "client_id", text("id")))));
  CHECK(google.cloud.api().last(kSts).header("Authorization") == "");
}

TEST_CASE("exchange: a workforce pool's project is escaped twice, and sent only without a client") {
  Google google;
  const Members workforce = with(with(google.file_account(), "audience", text(kWorkforce)),
                                 "workforce_pool_user_project", text("999"));
  CHECK_SUCCESS(google.run(by(workforce)));
  const std::string body = google.cloud.api().last(kSts).body;
  const std::string options = "&options=%257B%2522userProject%2522%253A%2520%2522999%2522%257D";
  CHECK(body.ends_with(options));
  CHECK_SUCCESS(google.run(by(with(workforce, "client_id", text("id")))));
  CHECK(google.cloud.api().last(kSts).field("options") == "(missing)");
  CHECK_FAILURE(
      google.run(by(with(google.file_account(), "workforce_pool_user_project", text("999")))), 2,
      "workforce_pool_user_project is for workforce pools, and the");
  CHECK_FAILURE(google.run(by(with(workforce, "workforce_pool_user_project", text("9\"}")))), 2,
                "workforce_pool_user_project is no project");
}

TEST_CASE("exchange: quota_project_id, token_info_url and unknown members change nothing") {
  Google google;
  CHECK_SUCCESS(google.run(by(google.file_account())));
  const std::string body = google.cloud.api().last(kSts).body;
  const Members more = with(with(with(google.file_account(), "quota_project_id", text("q")),
                                 "token_info_url", text("https://evil.example/x")),
                            "unknown", "[1]");
  CHECK_SUCCESS(google.run(by(more)));
  CHECK(google.cloud.api().last(kSts).body == body);
  CHECK(google.cloud.hosts() == Texts{"sts.googleapis.com:443", "sts.googleapis.com:443"});
}

TEST_CASE("exchange: without token_url, the STS of the universe domain is called") {
  Google google;
  CHECK_SUCCESS(google.run(by(with(google.file_account(), "token_url", ""))));
  CHECK(google.cloud.hosts() == Texts{"sts.googleapis.com:443"});
  const Members other = with(with(google.file_account(), "token_url", ""), "universe_domain",
                             text("s3nsapis.example"));
  CHECK_REFUSAL(google.run(by(other)), 1, "sts.s3nsapis.example");
  CHECK_SUCCESS(google.run(by(other, {"--allow-endpoint=https://*.s3nsapis.example/*"})));
  CHECK(google.cloud.hosts().back() == "sts.s3nsapis.example:443");
}

TEST_CASE("exchange: valid values of expires_in are used, and invalid ones are refused") {
  Google google;
  struct Case {
    std::string expires_in;
    std::int64_t seconds;
  };
  for (const Case& c : {Case{"600", 600}, Case{"\"600\"", 600}, Case{"3599", 3599}}) {
    CAPTURE(c.expires_in);
    google.cloud.api().on(kSts, reply(200, token_body(google_token("x", 1), c.expires_in)));
    CHECK(is_claimed(google.run_cold(by(google.file_account())), c.seconds));
  }
  for (const std::string wrong : {"0", "-1", "\"0\"", "\"soon\"", "[]", "true"}) {
    CAPTURE(wrong);
    google.cloud.api().on(kSts, reply(200, token_body(google_token("x", 1), wrong)));
    CHECK_FAILURE(google.run_cold(by(google.file_account())), 1, "'expires_in' is");
  }
}

TEST_CASE("exchange: errors of STS are shown, and a permanent one is not retried by later runs") {
  Google google;
  google.cloud.api().on(kSts, reply(400, R"({"error":"invalid_grant","error_description":)"
                                         R"("Connection to the given issuer failed: )" +
                                             google.subject + "\"}"));
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = google.run(by(google.file_account()));
    CHECK_FAILURE(outcome, 1, "https://sts.googleapis.com:443 answered 400 with the error");
    CHECK(blackbox::says(outcome, "invalid_grant"));
    CHECK(blackbox::says(outcome, "Connection to the given issuer failed"));
    CHECK(blackbox::says(outcome, "sts.googleapis.com"));
  }
  CHECK(google.cloud.calls() == 1);
}

TEST_CASE("exchange: a temporary failure is retried, and a redirect is never followed" *
          doctest::description("promise 14")) {
  Google google;
  int count = 0;
  google.cloud.api().on(kSts, [&](Stream& stream, const Received&) {
    stream.write(++count == 1 ? reply(503, "busy") : reply(200, token_body("ya29.later")));
  });
  CHECK(token_of(google.run(by(google.file_account()))) == "ya29.later");
  CHECK(count == 2);
  ScriptedServer thief(ScriptedServer::Transport::plain);
  for (const int status : {301, 302, 303, 307, 308}) {
    CAPTURE(status);
    google.cloud.api().on(kSts, redirect(status, thief.url("/")));
    CHECK_FAILURE(google.run_cold(by(google.file_account())), 1,
                  "https://sts.googleapis.com:443 answered");
    google.cloud.api().on(kSts, redirect(status, "https://sts.googleapis.com/elsewhere"));
    CHECK_FAILURE(google.run_cold(by(google.file_account())), 1,
                  "https://sts.googleapis.com:443 answered");
  }
  CHECK(thief.connections() == 0);
  CHECK(google.cloud.api().count("/elsewhere") == 0);
}

TEST_CASE("exchange: replies without a valid token are refused") {
  Google google;
  for (const std::string body :
       {"{}", "[]", "", "<html></html>", R"({"access_token":""})", R"({"access_token":7})",
        R"({"access_token":"a b","expires_in":60})",
        R"({"access_token":"a","access_token":"b","expires_in":60})",
        R"({"access_token":"a","error":"invalid_grant","expires_in":60})",
        R"({"access_token":"a","token_type":"mac","expires_in":60})"}) {
    CAPTURE(body);
    google.cloud.api().on(kSts, reply(200, body));
    CHECK_FAILURE(google.run_cold(by(google.file_account())), 1, "https://sts.googleapis.com:443");
  }
}

}  // namespace execcred::test

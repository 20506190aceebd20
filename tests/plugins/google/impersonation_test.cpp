// SPDX-License-Identifier: Apache-2.0
// Acting as a service account: by the credentials file, by --impersonate-service-account, by both.
#include "google.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace execcred::test {
namespace {

using Json = nlohmann::ordered_json;

const char* const kUrl = "service_account_impersonation_url";

Members impersonating(const Google& google, const std::string& account = kAccount) {
  return with(google.file_account(), kUrl, text(impersonation_url(account)));
}

Ask by(const Members& credentials, Texts arguments = {}) {
  return {.credentials = object(credentials), .arguments = std::move(arguments)};
}

Json body_of(const Received& request) { return Json::parse(request.body); }

}  // namespace

TEST_CASE("impersonation: a federated token for IAM only, then exactly google-auth's request") {
  Google google;
  const Outcome outcome = google.run(by(impersonating(google)));
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == google_token(kAccount, 2));
  CHECK(is_claimed(outcome, 3600));
  CHECK(google.cloud.hosts() ==
        Texts{"sts.googleapis.com:443", "iamcredentials.googleapis.com:443"});
  CHECK(google.cloud.api().last(kSts).field("scope") == kIamScope);
  const Received asked = google.cloud.api().last(impersonation_path());
  CHECK(asked.method == "POST");
  CHECK(asked.header("Content-Type") == "application/json");
  CHECK(asked.header("Authorization") == "Bearer " + google_token(kSts, 1));
  const Json wanted = {
      {"delegates", nullptr}, {"scope", {kCloudPlatform, kEmailScope}}, {"lifetime", "3600s"}};
  CHECK(body_of(asked).dump() == wanted.dump());
}

TEST_CASE("impersonation: token_lifetime_seconds from 600 to 43200") {
  Google google;
  const auto lasting = [&](const std::string& seconds) {
    return by(with(impersonating(google), "service_account_impersonation",
                   object({{"token_lifetime_seconds", seconds}})));
  };
  for (const std::string seconds : {"600", "2800", "43200"}) {
    CHECK_SUCCESS(google.run(lasting(seconds)));
    CHECK(body_of(google.cloud.api().last(impersonation_path()))["lifetime"] == seconds + "s");
  }
  for (const std::string seconds : {"599", "43201", "-600", "600.5", "\"600\"", "1e3", "[]"}) {
    CAPTURE(seconds);
    CHECK_FAILURE(google.run(lasting(seconds)), 2,
                  "service_account_impersonation.token_lifetime_seconds must");
  }
}

TEST_CASE("--impersonate-service-account: it calls the universe's own endpoint, with delegates") {
  Google google;
  const Outcome outcome =
      google.run(by(google.file_account(), {std::string("--impersonate-service-account=123456,") +
                                            kOtherAccount + "," + kAccount}));
  CHECK_SUCCESS(outcome);
  CHECK(google.cloud.hosts().back() == "iamcredentials.googleapis.com:443");
  const Json body = body_of(google.cloud.api().last(impersonation_path()));
  CHECK(body["delegates"] == Json({"projects/-/serviceAccounts/123456",
                                   std::string("projects/-/serviceAccounts/") + kOtherAccount}));
  for (const std::string wrong : {"", "a@b c", "../x@p.iam.gserviceaccount.com", "x", "a@b,,c@d",
                                  "a%40b@c.d", "a@b@c.d", "a@-", "a/b@c.d", "a@c.d:x"}) {
    CAPTURE(wrong);
    CHECK_FAILURE(google.run(by(google.file_account(), {"--impersonate-service-account=" + wrong})),
                  2, "--impersonate-service-account");
  }
}

TEST_CASE("--impersonate-service-account is applied after the credentials file's impersonation") {
  Google google;
  CHECK_SUCCESS(google.run(by(impersonating(google, kOtherAccount),
                              {std::string("--impersonate-service-account=") + kAccount})));
  const Received first = google.cloud.api().last(impersonation_path(kOtherAccount));
  CHECK(first.header("Authorization") == "Bearer " + google_token(kSts, 1));
  CHECK(body_of(first)["scope"] == Json({kIamScope}));
  const Received second = google.cloud.api().last(impersonation_path());
  CHECK(second.header("Authorization") == "Bearer " + google_token(kOtherAccount, 2));
  CHECK(body_of(second)["scope"] == Json({kCloudPlatform, kEmailScope}));
}

TEST_CASE("impersonated_service_account: a source of each kind, delegates and scopes of the file") {
  Google google;
  const Members file = {{"type", text("impersonated_service_account")},
                        {kUrl, text(impersonation_url())},
                        {"delegates", "[]"},
                        {"source_credentials", object(google.user())}};
  CHECK_SUCCESS(google.run(by(file)));
  CHECK(google.cloud.api().last(kOauth).field("scope") == "(missing)");
  CHECK(body_of(google.cloud.api().last(impersonation_path()))["delegates"] == Json::array());
  const std::string delegate = std::string("projects/-/serviceAccounts/") + kOtherAccount;
  const Members other = with(with(with(file, "delegates", "[" + text(delegate) + "]"),
                                  "source_credentials", object(Google::service_account())),
                             "scopes", R"(["scope-1","scope-2"])");
  CHECK_SUCCESS(google.run(by(other)));
  const Json body = body_of(google.cloud.api().last(impersonation_path()));
  CHECK(body["delegates"] == Json({delegate}));
  CHECK(body["scope"] == Json({"scope-1", "scope-2"}));
  CHECK_SUCCESS(google.run(by(other, {"--scope=asked-for"})));
  CHECK(body_of(google.cloud.api().last(impersonation_path()))["scope"] == Json({"asked-for"}));
  CHECK_SUCCESS(google.run(by(with(file, "source_credentials", object(google.file_account())))));
  CHECK(google.cloud.api().last(kSts).field("scope") == kIamScope);
  CHECK_FAILURE(google.run(by(with(file, "source_credentials", object(file)))), 2,
                "source_credentials.type is 'impersonated_service_account'");
  CHECK_FAILURE(google.run(by(with(file, "source_credentials", ""))), 2,
                "source_credentials is missing");
  CHECK_FAILURE(google.run(by(with(file, "delegates", "[7]"))), 2,
                "delegates[0] must be a string, not a number");
}

TEST_CASE("impersonation: Google's errors are shown, a 403 with the role to grant") {
  Google google;
  struct Case {
    int status, exit_code;
    std::string code;
  };
  for (const Case& c : {Case{403, 1, "PERMISSION_DENIED"}, Case{404, 1, "NOT_FOUND"},
                        Case{400, 1, "INVALID_ARGUMENT"}, Case{401, 1, "UNAUTHENTICATED"},
                        Case{429, 3, "RESOURCE_EXHAUSTED"}, Case{503, 3, "UNAVAILABLE"}}) {
    CAPTURE(c.status);
    google.cloud.api().on(
        impersonation_path(),
        reply(c.status, R"({"error":{"code":)" + std::to_string(c.status) +
                            R"(,"message":"what Google says of )" + google_token(kSts, 1) +
                            R"(","status":")" + c.code + "\"}}"));
    Ask ask = by(impersonating(google), {"--timeout=2s"});
    const Outcome outcome = google.run_cold(ask);
    CHECK_FAILURE(outcome, c.exit_code, "https://iamcredentials.googleapis.com:443 answered");
    CHECK(blackbox::says(outcome, c.code));
    CHECK(blackbox::says(outcome, "what Google says"));
    CHECK(blackbox::says(outcome, kAccount));
    CHECK(blackbox::says(outcome, "roles/iam.") == (c.status == 403));
  }
  google.cloud.api().on(impersonation_path(), reply(403, "<html>"));
  CHECK_FAILURE(google.run_cold(by(impersonating(google))), 1,
                "https://iamcredentials.googleapis.com:443 answered 403");
}

TEST_CASE("impersonation: invalid replies and redirects are refused" *
          doctest::description("promise 14")) {
  Google google;
  const std::string later = time_from_now(600);
  for (const std::string& body :
       {std::string("{}"), std::string("[]"), std::string("<html>"), account_body("", later),
        account_body("a b", later), account_body("a", "soon"), account_body("a", ""),
        account_body("a", time_from_now(-5)), R"({"accessToken":7,"expireTime":")" + later + "\"}",
        R"({"accessToken":"a","accessToken":"b","expireTime":")" + later + "\"}",
        std::string(R"({"accessToken":"a"})"),
        std::string(R"({"expireTime":"2099-01-01T00:00:00Z"})")}) {
    CAPTURE(body);
    google.cloud.api().on(impersonation_path(), reply(200, body));
    const Outcome outcome = google.run_cold(by(impersonating(google)));
    CHECK_FAILURE(outcome, 1, "https://iamcredentials.googleapis.com:443");
    CHECK(blackbox::says(outcome, "iamcredentials.googleapis.com"));
  }
  google.cloud.api().on(impersonation_path(), reply(200, account_body("a", time_from_now(-5))));
  CHECK(blackbox::says(google.run_cold(by(impersonating(google))), "'expireTime'"));
  google.cloud.api().on(impersonation_path(), reply(200, account_body("a", time_from_now(600))));
  CHECK(is_claimed(google.run_cold(by(impersonating(google))), 600));
  ScriptedServer thief(ScriptedServer::Transport::plain);
  for (const int status : {301, 302, 307, 308}) {
    google.cloud.api().on(impersonation_path(), redirect(status, thief.url("/")));
    CHECK_FAILURE(google.run_cold(by(impersonating(google))), 1,
                  "https://iamcredentials.googleapis.com:443 answered");
  }
  CHECK(thief.connections() == 0);
}

TEST_CASE("impersonation: a URL of another form is refused, and nothing is sent") {
  Google google;
  const std::string accounts =
      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/";
  for (const std::string& url :
       {accounts + "a@b.c:generateIdToken", accounts + "../x@b.c:generateAccessToken",
        accounts + "x:generateAccessToken", accounts + "a@b.c/x:generateAccessToken",
        accounts + "a@b.c:generateAccessToken?x=1", accounts + ":generateAccessToken",
        std::string("https://iamcredentials.googleapis.com/v2/a@b.c:generateAccessToken"),
        "http" + accounts.substr(5) + "a@b.c:generateAccessToken",
        std::string("https://user@iamcredentials.googleapis.com/a@b.c:generateAccessToken"),
        std::string("iamcredentials"), std::string(" ")}) {
    CAPTURE(url);
    CHECK_FAILURE(google.run(by(with(google.file_account(), kUrl, text(url)))), 2,
                  "service_account_impersonation_url");
  }
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("impersonation: a JWT ends at its own exp, and an ended or malformed one is refused") {
  Google google;
  const auto give = [&google](const std::string& token, const std::string& end) {
    google.cloud.api().on(impersonation_path(), reply(200, account_body(token, end)));
  };
  give(blackbox::jwt_for(600), time_from_now(3600));
  CHECK(is_claimed(google.run_cold(by(impersonating(google))), 600));
  give(blackbox::jwt_for(3600), time_from_now(600));
  CHECK(is_claimed(google.run_cold(by(impersonating(google))), 600));
  give(blackbox::jwt_for(-60), time_from_now(600));
  CHECK_FAILURE(google.run_cold(by(impersonating(google))), 1,
                "the token has expired: it ended at");
  give(blackbox::make_jwt(R"({"exp":"9999999999"})"), time_from_now(600));
  CHECK_FAILURE(google.run_cold(by(impersonating(google))), 1, "'exp' claim is a string");
}

TEST_CASE("impersonation: an end in 2099 is claimed for one day, in each run") {
  Google google;
  google.cloud.api().on(impersonation_path(),
                        reply(200, account_body("ya29.a", "2099-01-01T00:00:00Z")));
  constexpr std::int64_t kDay = 24 * 3600;
  for (int run = 0; run < 2; ++run) CHECK(is_claimed(google.run(by(impersonating(google))), kDay));
  CHECK(google.cloud.api().count(impersonation_path()) == 1);
  Ask ask = by(impersonating(google), {"--no-cache"});
  ask.has_cache = false;
  CHECK(is_claimed(google.run(ask), kDay));
}

}  // namespace execcred::test

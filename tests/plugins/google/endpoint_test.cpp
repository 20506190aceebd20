// SPDX-License-Identifier: Apache-2.0
// To which servers a credentials file can make execcred-google send requests.
#include "google.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

Ask by(const Members& credentials, Texts arguments = {}) {
  return {.credentials = object(credentials), .arguments = std::move(arguments)};
}

}  // namespace

TEST_CASE("endpoint: only Google's own hosts are allowed, each for its purpose") {
  Google google;
  for (const std::string host : {"sts.evil.example",
                                 "sts.googleapis.com.evil.example",
                                 "stsgoogleapis.com",
                                 "xsts.googleapis.com",
                                 "storage.googleapis.com",
                                 "iamcredentials.googleapis.com",
                                 "googleapis.com",
                                 "sts.googleapis.com:8443",
                                 "127.0.0.1",
                                 "localhost",
                                 "[::1]",
                                 "169.254.169.254",
                                 "accounts.google.com",
                                 "sts-evil.storage.googleapis.com",
                                 "sts.storage.googleapis.com",
                                 "evil-sts.storage.googleapis.com",
                                 "sts-evil.googleapis.com",
                                 "sts.us-east1.storage.googleapis.com",
                                 "sts.p.googleapis.com",
                                 "a.b.sts.googleapis.com"}) {
    CAPTURE(host);
    const std::string sts = "https://" + std::string(host) + "/v1/token";
    CHECK_REFUSAL(google.run(by(with(google.file_account(), "token_url", text(sts)))), 1,
                  "--allow-endpoint");
  }
  for (const std::string host : {"iamcredentials.evil.example", "sts.googleapis.com",
                                 "storage.googleapis.com", "localhost"}) {
    CAPTURE(host);
    CHECK_REFUSAL(google.run(by(with(google.file_account(), "service_account_impersonation_url",
                                     text(impersonation_url(kAccount, host))))),
                  1, "--allow-endpoint");
  }
  for (const std::string host : {"oauth2.evil.example", "sts.googleapis.com", "127.0.0.1:1",
                                 "accounts.google.com.evil.example", "accounts.google.com:444"}) {
    CAPTURE(host);
    CHECK_REFUSAL(google.run(by(with(Google::service_account(), "token_uri",
                                     text("https://" + host + "/token")))),
                  1, "--allow-endpoint");
  }
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("endpoint: other names of Google's services are allowed") {
  Google google;
  for (const std::string host :
       {"sts.googleapis.com", "us-east1-sts.googleapis.com", "sts.us-east1.rep.googleapis.com",
        "sts-psc.p.googleapis.com", "STS.googleapis.com", "sts.mtls.googleapis.com",
        "us-east1.sts.googleapis.com", "sts.us-east1.googleapis.com"}) {
    CAPTURE(host);
    const std::string sts = "https://" + std::string(host) + "/v1/token";
    const Outcome outcome =
        google.run_cold(by(with(google.file_account(), "token_url", text(sts)), {"--timeout=2s"}));
    // Names with several labels have no certificate here; it matters only that they are called.
    CHECK(outcome.exit_code != 1);
    CHECK(outcome.exit_code != 2);
  }
  CHECK(google.cloud.connections() >= 5);
}

TEST_CASE("endpoint: plain http, user info and malformed URLs are refused") {
  Google google;
  for (const std::string url :
       {"http://sts.googleapis.com/v1/token", "http://127.0.0.1/v1/token", "sts.googleapis.com",
        "https://u:p@sts.googleapis.com/v1/token", "https://sts.googleapis.com/../x",
        "https://sts.googleapis.com\\@evil.example/", "https://sts.googleapis.com/a b", "https://",
        "https://sts.googleapis.com#@evil.example/"}) {
    CAPTURE(url);
    CHECK_FAILURE(google.run(by(with(google.file_account(), "token_url", text(url)),
                                {"--allow-endpoint=https://*.googleapis.com:*/*"})),
                  2, "token_url");
    CHECK_FAILURE(google.run(by(with(Google::service_account(), "token_uri", text(url)))), 2,
                  "token_uri");
  }
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("endpoint: --allow-endpoint allows others, but not by a variable or a ClusterProfile") {
  Google google;
  const Ask ask =
      by(with(google.file_account(), "token_url", text("https://sts.broker.example/v1/token")));
  Ask named = ask;
  named.arguments = {"--allow-endpoint=https://sts.broker.example/v1/*"};
  CHECK_SUCCESS(google.run_cold(named));
  CHECK(google.cloud.hosts().back() == "sts.broker.example:443");
  named.arguments = {"--allow-endpoint=https://sts.broker.example/v2/*"};
  CHECK_FAILURE(google.run_cold(named), 1,
                "token_url is at https://sts.broker.example:443, which is");
  Ask other = ask;
  other.variables = {"EXECCRED_ALLOW_ENDPOINT=https://sts.broker.example/*"};
  CHECK_FAILURE(google.run_cold(other), 1,
                "token_url is at https://sts.broker.example:443, which is");
  other = ask;
  other.arguments = {"--from-profile", "--allow-endpoint=https://sts.broker.example/*"};
  CHECK_FAILURE(google.run_cold(other), 2,
                "--allow-endpoint stands behind --from-profile, and may not");
  other = ask;
  other.config = R"({"allowEndpoint":"https://sts.broker.example/*"})";
  CHECK_FAILURE(google.run_cold(other), 2,
                "spec.cluster.config.allowEndpoint sets --allow-endpoint");
}

TEST_CASE("endpoint: the server's certificate is verified, also for its host name") {
  Google google;
  Ask untrusted = by(google.file_account(), {"--timeout=2s"});
  untrusted.has_trust = false;
  CHECK_FAILURE(google.run(untrusted), 3,
                "cannot verify https://sts.googleapis.com:443: unable to get");
  untrusted.arguments.push_back("--ca-file=" + google.sandbox.write("none.pem", ""));
  CHECK_REFUSAL(google.run_cold(untrusted), 2, "--ca-file");
  // The certificate is valid only for sts.broker.example.
  CHECK_FAILURE(google.run(by(with(google.file_account(), "token_url",
                                   text("https://other.broker.example/v1/token")),
                              {"--allow-endpoint=https://*.broker.example/*", "--timeout=2s"})),
                3, "cannot verify https://other.broker.example:443: its");
  CHECK(google.cloud.calls() == 0);
}

}  // namespace execcred::test

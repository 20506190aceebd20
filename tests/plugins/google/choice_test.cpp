// SPDX-License-Identifier: Apache-2.0
// A ClusterProfile may choose a service account, but only one that the mapping allows.
#include "google.hpp"
#include "support/choice_escapes.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

const std::string kAllowed = std::string("--allow-impersonation=") + kOtherAccount;

std::string choosing(const std::string& account) {
  return object({{"impersonateServiceAccount", text(account)}});
}

Ask of_profile(const Google& google, const std::string& account, Texts arguments = {}) {
  return {.credentials = object(google.file_account()),
          .arguments = std::move(arguments),
          .config = choosing(account)};
}

}  // namespace

TEST_CASE("choice: a field or an argument names the account, where the mapping allows it") {
  Google google;
  for (const Ask& ask :
       {of_profile(google, kOtherAccount, {kAllowed}),
        of_profile(google, kOtherAccount, {"--allow-impersonation=other@*"}),
        Ask{.credentials = object(google.file_account()),
        .arguments = {kAllowed, "--from-profile",
                      std::string("--impersonate-service-account=") + kOtherAccount}}}) {
    google.cloud.api().forget();
    CHECK_SUCCESS(google.run_cold(ask));
    CHECK(google.cloud.api().count(impersonation_path(kOtherAccount)) == 1);
  }
}

TEST_CASE("choice: a chain of accounts is allowed only by an exact pattern") {
  Google google;
  const std::string chain = std::string(kAccount) + "," + kOtherAccount;
  CHECK_SUCCESS(google.run_cold(of_profile(google, chain, {"--allow-impersonation=" + chain})));
  CHECK(google.cloud.api().count(impersonation_path(kOtherAccount)) == 1);
  CHECK_REFUSAL(
      google.run(of_profile(google, chain,
                            {std::string("--allow-impersonation=") + kAccount + "*", kAllowed})),
      1, "matches no --allow-impersonation");
}

TEST_CASE("choice: without a pattern it exits with 2, without a match with 1, and calls nothing") {
  Google google;
  CHECK_REFUSAL(google.run(of_profile(google, kOtherAccount)), 2,
                "there is no --allow-impersonation");
  Ask by_variable = of_profile(google, kOtherAccount);
  by_variable.variables = {std::string("EXECCRED_ALLOW_IMPERSONATION=") + kOtherAccount};
  CHECK_REFUSAL(google.run(by_variable), 2, "there is no --allow-impersonation");
  CHECK_REFUSAL(google.run(of_profile(google, kAccount, {kAllowed})), 1,
                "matches no --allow-impersonation");
  CHECK_REFUSAL(google.run(of_profile(google, kAccount, {"--allow-impersonation=*"})), 2,
                "is no pattern");
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("choice: an account other than the mapping's own is refused, the same one is accepted") {
  Google google;
  const std::string own = std::string("--impersonate-service-account=") + kAccount;
  CHECK_REFUSAL(google.run(of_profile(google, kOtherAccount, {own, kAllowed})), 1,
                "spec.cluster.config.impersonateServiceAccount differs from "
                "--impersonate-service-account");
  CHECK_REFUSAL(
      google.run({.credentials = object(google.file_account()),
                  .arguments = {own, kAllowed, "--from-profile",
                                std::string("--impersonate-service-account=") + kOtherAccount}}),
      1, "differs from --impersonate-service-account");
  CHECK(google.cloud.connections() == 0);
  CHECK_SUCCESS(google.run(of_profile(google, kAccount, {own})));
}

TEST_CASE("choice: one mapping entry serves 50 accounts, and none gets the token of another") {
  Google google;
  const auto account = [](int i) {
    return "fleet-" + std::to_string(i) + "@project-1.iam.gserviceaccount.com";
  };
  for (int i = 0; i < 50; ++i) {
    google.cloud.api().on(
        impersonation_path(account(i)),
        reply(200, account_body(google_token("fleet-account", i), time_from_now(3600))));
  }
  const auto check_own = [&](int i) {
    const Outcome outcome =
        google.run(of_profile(google, account(i), {"--allow-impersonation=fleet-*"}));
    CHECK_SUCCESS(outcome);
    CHECK(token_of(outcome) == google_token("fleet-account", i));
  };
  // An account's second run is at most five runs later: after ten seconds it would ask again.
  constexpr int kAtOnce = 5;
  for (int first = 0; first < 50; first += kAtOnce) {
    for (int i = first; i < first + kAtOnce; ++i) check_own(i);
    for (int i = first; i < first + kAtOnce; ++i) check_own(i);
  }
  for (int i = 0; i < 50; ++i) CHECK(google.cloud.api().count(impersonation_path(account(i))) == 1);
  check_own(0);
}

TEST_CASE("choice: an account outside the patterns gets no token, however it is written") {
  Google google;
  const std::string good = "fleet-a@project-1.iam.gserviceaccount.com";
  const Texts others = {"evil@project-1.iam.gserviceaccount.com",
                        "fleet-a@project-1.iam.gserviceaccount.com@evil.example",
                        "fleet-a@project-1.iam.gserviceaccount.com:generateAccessToken",
                        "fleet-a%40project-1.iam.gserviceaccount.com",
                        "projects/-/serviceAccounts/" + good,
                        "fleet-a@project-1.iam.gserviceaccount.com,evil@p.example",
                        "evil@p.example,fleet-a@project-1.iam.gserviceaccount.com",
                        "fleet-a@project-1.iam.gserviceaccount.com.",
                        "fleet-a@-",
                        "fleet-a@",
                        "123456789"};
  const Texts allowed = {"--allow-impersonation=" + good, "--allow-impersonation=fleet-*"};
  for (const ChoiceEscape& escape : choice_escapes(good, "fleet-", others)) {
    CAPTURE(escape.json);
    Ask ask = of_profile(google, good, allowed);
    ask.config = object({{"impersonateServiceAccount", escape.json}});
    CHECK(problem_of_escape(google.run(ask), "spec.cluster.config.impersonateServiceAccount") ==
          "");
    if (escape.argument.empty()) continue;
    ask.config.clear();
    ask.arguments =
        allowed + Texts{"--from-profile", "--impersonate-service-account=" + escape.argument};
    CHECK(problem_of_escape(google.run(ask), "--impersonate-service-account") == "");
  }
  CHECK(google.cloud.connections() == 0);
}

}  // namespace execcred::test

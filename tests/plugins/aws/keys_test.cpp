// SPDX-License-Identifier: Apache-2.0
// Keys in the environment: a token costs no request.
#include "rig.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace execcred::test {
namespace {

constexpr std::int64_t kFourteenMinutes = 840;

}  // namespace

TEST_CASE("keys: the token is valid, its claimed lifetime is 14 minutes, and STS is not called") {
  const Rig rig;
  const Outcome outcome = rig.run({});
  const TokenVerdict verdict = rig.verdict(outcome);
  CHECK(verdict.problem == "");
  CHECK(verdict.key_id == kKeyId);
  CHECK(verdict.region == "us-west-2");
  CHECK(verdict.host == "sts.us-west-2.amazonaws.com");
  CHECK(claimed_seconds(outcome) <= kFourteenMinutes);
  CHECK(claimed_seconds(outcome) >= kFourteenMinutes - 5);
  CHECK(rig.sts.connections() == 0);
  // There is nothing to cache, so no cache directory is made.
  CHECK_FALSE(std::filesystem::exists(rig.cache_path));
}

TEST_CASE("keys: a session's token is in the signed request") {
  Rig rig;
  const std::string token = "FwoG/" + new_secret() + "==";
  rig.sts.know("ASIA1", rig.secret, token);
  const Texts session = {"AWS_ACCESS_KEY_ID=ASIA1", "AWS_SESSION_TOKEN=" + token};
  CHECK(rig.problem(rig.run({.variables = session})) == "");
  CHECK(rig.problem(rig.run(
            {.variables = {"AWS_ACCESS_KEY_ID=ASIA1", "AWS_SECURITY_TOKEN=" + token}})) == "");
}

TEST_CASE("keys: an AWS_CREDENTIAL_EXPIRATION that is far ahead, in the past, or malformed") {
  Rig rig;
  const std::string token = new_secret();
  rig.sts.know("ASIA1", rig.secret, token);
  const auto ask_until = [&](const std::string& end) {
    return rig.run({.variables = {"AWS_ACCESS_KEY_ID=ASIA1", "AWS_SESSION_TOKEN=" + token,
                                  "AWS_CREDENTIAL_EXPIRATION=" + end}});
  };
  const Outcome far = ask_until("2099-01-01T00:00:00Z");
  CHECK(claimed_seconds(far) <= kFourteenMinutes);
  CHECK(claimed_seconds(far) >= kFourteenMinutes - 5);
  CHECK_REFUSAL(ask_until("2020-01-01T00:00:00Z"), 1, "has ended");
  CHECK_FAILURE(ask_until("tomorrow"), 2,
                "AWS_CREDENTIAL_EXPIRATION: a text of 8 bytes is no RFC 3339 time");
}

TEST_CASE("keys: an incomplete key pair, or one that is invalid in a request, exits with 2") {
  const Rig rig;
  for (const Texts& variables :
       {Texts{"AWS_ACCESS_KEY_ID=A"}, Texts{"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY="},
        Texts{"AWS_ACCESS_KEY_ID=A/us-east-1", "AWS_SECRET_ACCESS_KEY=" + rig.secret},
        Texts{"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=" + rig.secret + " x"},
        Texts{"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=" + rig.secret,
              "AWS_SESSION_TOKEN=" + rig.secret + "\nX: y"}}) {
    const Outcome outcome = rig.run({.variables = variables, .has_keys = false});
    CHECK_REFUSAL(outcome, 2, "AWS_ACCESS_KEY_ID");
  }
}

TEST_CASE("keys: a session token that makes the EKS token longer than 4096 bytes is refused") {
  Rig rig;
  const std::string token(3000, 'x');
  rig.sts.know("ASIA1", rig.secret, token);
  CHECK_REFUSAL(rig.run({.variables = {"AWS_ACCESS_KEY_ID=ASIA1", "AWS_SESSION_TOKEN=" + token}}),
                1, "4096");
  const std::string shorter(2000, 'x');
  rig.sts.know("ASIA1", rig.secret, shorter);
  CHECK(rig.problem(rig.run(
            {.variables = {"AWS_ACCESS_KEY_ID=ASIA1", "AWS_SESSION_TOKEN=" + shorter}})) == "");
}

TEST_CASE("keys: without any credentials the error lists where they were searched") {
  const Rig rig;
  const Outcome outcome = rig.run({.has_keys = false});
  CHECK_REFUSAL(outcome, 2, "there are no credentials");
  CHECK(blackbox::says(outcome, "/home/.aws/config"));
  CHECK(blackbox::says(outcome, "AWS_EC2_METADATA_DISABLED"));
}

TEST_CASE("keys: they take precedence over AWS_PROFILE, and --profile over them") {
  Rig rig;
  rig.set_credentials(
      "[build]\naws_access_key_id = AKIABUILD\naws_secret_access_key = " + rig.secret + "\n");
  rig.sts.know("AKIABUILD", rig.secret);
  CHECK(rig.verdict(rig.run({.variables = {"AWS_PROFILE=build"}})).key_id == kKeyId);
  CHECK(rig.verdict(rig.run({.arguments = {"--profile=build"}})).key_id == "AKIABUILD");
  CHECK(rig.verdict(rig.run({.variables = {"EXECCRED_PROFILE=build"}})).key_id == "AKIABUILD");
  CHECK(rig.verdict(rig.run({.variables = {"AWS_PROFILE=build"}, .has_keys = false})).key_id ==
        "AKIABUILD");
  CHECK(rig.verdict(rig.run({.variables = {"AWS_DEFAULT_PROFILE=build"}, .has_keys = false}))
            .key_id == "AKIABUILD");
}

TEST_CASE("the cluster's ID: only a name that is valid in EKS is accepted") {
  const Rig rig;
  for (const std::string good : {"demo", "Demo_1.example.com", "a", "7f0d3a6e-1"}) {
    CAPTURE(good);
    CHECK(rig.problem(rig.run({.cluster = good}), good) == "");
  }
  for (const std::string bad :
       {"a b", "-a", "a/b", "a\tb", "a:b", "\xc3\xa9", "a,b", "a=b", "../a"}) {
    CAPTURE(bad);
    CHECK_FAILURE(rig.run({.cluster = "", .arguments = {"--cluster-id=" + bad}}), 2,
                  "--cluster-id");
    CHECK_FAILURE(
        rig.run({.cluster = "", .config = R"({"clusterId":)" + blackbox::json_string(bad) + "}"}),
        2, "spec.cluster.config.clusterId");
  }
  CHECK_FAILURE(rig.run({.cluster = std::string(254, 'a')}), 2, "is no name of a cluster");
  CHECK_REFUSAL(rig.run({.cluster = ""}), 2, "--cluster-id is required");
}

TEST_CASE("--cluster-id: without cluster information, the hint is provideClusterInfo: true") {
  const Rig rig;
  const std::string hint = "\n  hint: set provideClusterInfo: true where the client runs";
  const std::string log = rig.sandbox.at("log");
  for (const Texts& arguments : {Texts{}, Texts{"--allow-server=https://*.eks.amazonaws.com"}}) {
    const Outcome outcome =
        rig.run({.cluster = "", .arguments = arguments + Texts{"--log-file=" + log}, .server = ""});
    CHECK_REFUSAL(outcome, 2, "--cluster-id is required");
    CHECK(blackbox::says(outcome, hint));
    CHECK(blackbox::says(outcome, "or set EXECCRED_CLUSTER_ID"));
    CHECK(blackbox::read_text(log).find("mapping-invalid") == std::string::npos);
    CHECK(blackbox::read_text(log).find("cluster-info-missing") != std::string::npos);
    const Outcome shown =
        rig.run({.cluster = "", .arguments = arguments + Texts{"--show-config"}, .server = ""});
    CHECK(blackbox::says(shown, hint));
  }
  // A ClusterProfile that names no cluster has another hint.
  const Outcome unnamed = rig.run({.cluster = ""});
  CHECK_REFUSAL(unnamed, 2, "--cluster-id is required");
  CHECK_FALSE(blackbox::says(unnamed, "provideClusterInfo"));
}

}  // namespace execcred::test

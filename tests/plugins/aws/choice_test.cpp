// SPDX-License-Identifier: Apache-2.0
// A ClusterProfile may choose a role, but only one that the mapping allows.
#include "rig.hpp"
#include "support/choice_escapes.hpp"
#include "support/claim_changes.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

const std::string kFleet = "arn:aws:iam::123456789012:role/fleet-a";
const std::string kFleetPrefix = "arn:aws:iam::123456789012:role/fleet-";
const std::string kAllowed = "--allow-role=" + kFleetPrefix + "*";

std::string choosing(const std::string& role) {
  return R"({"roleArn":)" + blackbox::json_string(role) + "}";
}

}  // namespace

TEST_CASE("choice: a field or an argument names the role, and it is assumed with the keys") {
  Rig rig;
  for (const Ask& ask :
       {Ask{.arguments = {kAllowed, "--session-name=fleet", "--external-id=hub"},
       .config = choosing(kFleet)},
        Ask{.arguments = {"--allow-role=" + kFleet, "--session-name=fleet", "--external-id=hub",
                          "--from-profile", "--role-arn=" + kFleet}}}) {
    CHECK(rig.problem(rig.run_cold(ask)) == "");
    CHECK(rig.sts.last("/").fields() == Texts{"Action=AssumeRole", "ExternalId=hub",
                                              "RoleArn=" + kFleet, "RoleSessionName=fleet",
                                              "Version=2011-06-15"});
  }
  CHECK(rig.sts.calls() == 2);
}

TEST_CASE("choice: with a web identity it replaces AWS_ROLE_ARN, and STS is called once") {
  Rig rig;
  const Texts file = {"AWS_WEB_IDENTITY_TOKEN_FILE=" + rig.web_identity_path};
  for (const Texts& role : {Texts{}, Texts{std::string("AWS_ROLE_ARN=") + kRole},
                            Texts{"AWS_ROLE_ARN=no-role", "AWS_ROLE_SESSION_NAME=ambient"}}) {
    rig.sts.forget();
    CHECK(rig.problem(rig.run_cold({.arguments = {kAllowed},
                                    .variables = file + role,
                                    .has_keys = false,
                                    .config = choosing(kFleet)})) == "");
    CHECK(rig.sts.calls() == 1);
    CHECK(rig.sts.last("/").field("Action") == "AssumeRoleWithWebIdentity");
    CHECK(rig.sts.last("/").field("RoleArn") == kFleet);
  }
  CHECK(rig.sts.last("/").field("RoleSessionName") == "ambient");
  // Without a choice AWS_ROLE_ARN applies.
  CHECK(rig.problem(rig.run_cold(
            {.arguments = {kAllowed}, .variables = web_identity_of(rig), .has_keys = false})) ==
        "");
  CHECK(rig.sts.last("/").field("RoleArn") == kRole);
}

TEST_CASE("choice: --session-name applies to a web identity's call, --external-id is an error") {
  Rig rig;
  const auto with = [&](const std::string& option) {
    return rig.run_cold({.arguments = {kAllowed, option},
                         .variables = web_identity_of(rig),
                         .has_keys = false,
                         .config = choosing(kFleet)});
  };
  CHECK(rig.problem(with("--session-name=fleet")) == "");
  CHECK(rig.sts.last("/").field("RoleSessionName") == "fleet");
  CHECK_REFUSAL(with("--external-id=hub"), 2, "--external-id has no use");
}

TEST_CASE("choice: the profile's chain of roles is assumed first, and the chosen role last") {
  Rig rig;
  rig.set_config("[default]\nrole_arn = " + std::string(kOtherRole) +
                 "\nsource_profile = base\n[profile base]\nrole_arn = " + std::string(kRole) +
                 "\nweb_identity_token_file = " + rig.web_identity_path + "\n");
  CHECK(rig.problem(rig.run(
            {.arguments = {kAllowed}, .has_keys = false, .config = choosing(kFleet)})) == "");
  Texts roles;
  for (const Received& asked : rig.sts.requests("/")) roles.push_back(asked.field("RoleArn"));
  CHECK(roles == Texts{kRole, kOtherRole, kFleet});
}

TEST_CASE("choice: without a pattern it exits with 2, without a match with 1, and calls no STS") {
  Rig rig;
  CHECK_REFUSAL(rig.run({.config = choosing(kFleet)}), 2, "there is no --allow-role");
  CHECK_REFUSAL(rig.run({.arguments = {"--from-profile", "--role-arn=" + kFleet}}), 2,
                "there is no --allow-role");
  CHECK_REFUSAL(
      rig.run({.variables = {"EXECCRED_ALLOW_ROLE=" + kFleet}, .config = choosing(kFleet)}), 2,
      "there is no --allow-role");
  CHECK_REFUSAL(rig.run({.arguments = {kAllowed}, .config = choosing(kRole)}), 1,
                "spec.cluster.config.roleArn 'arn:aws:iam::123456789012:role/reader' matches no "
                "--allow-role");
  for (const std::string bad : {"*", "any", "arn:*:iam", "a*b", "**"}) {
    CAPTURE(bad);
    CHECK_REFUSAL(rig.run({.arguments = {"--allow-role=" + bad}}), 2, "is no pattern");
  }
  CHECK_FAILURE(rig.run({.arguments = {"--allow-role="}}), 2, "--allow-role has an empty value");
  CHECK_FAILURE(rig.run({.arguments = {"--from-profile", kAllowed}}), 2,
                "--allow-role stands behind --from-profile");
  CHECK(rig.sts.connections() == 0);
}

TEST_CASE("choice: a role other than the mapping's own is refused, the same role is accepted") {
  Rig rig;
  const std::string own = std::string("--role-arn=") + kRole;
  for (const Ask& ask :
       {Ask{.arguments = {own, kAllowed}, .config = choosing(kFleet)},
        Ask{.arguments = {own}, .config = choosing(kFleet)},
        Ask{.arguments = {own, kAllowed, "--from-profile", "--role-arn=" + kFleet}},
        Ask{.arguments = {kAllowed},
        .variables = {std::string("EXECCRED_ROLE_ARN=") + kRole},
        .config = choosing(kFleet)}}) {
    CHECK_REFUSAL(rig.run(ask), 1, "differs from");
  }
  CHECK(rig.sts.connections() == 0);
  CHECK(rig.problem(rig.run({.arguments = {own}, .config = choosing(kRole)})) == "");
  CHECK(rig.problem(rig.run({.config = R"({"roleArn":""})"})) == "");
  // The argument may have leaked from another ClusterProfile.
  CHECK_REFUSAL(rig.run({.arguments = {kAllowed, "--from-profile", "--role-arn=" + kFleet},
                         .config = choosing(kFleetPrefix + "b")}),
                2, "differs from --role-arn behind --from-profile");
}

TEST_CASE("choice: one mapping entry serves 50 accounts, and none gets the session of another") {
  Rig rig;
  Texts allowed;
  for (int i = 0; i < 50; ++i) {
    allowed.push_back("--allow-role=arn:aws:iam::" + std::to_string(100000000000 + i) + ":role/*");
  }
  std::vector<std::string> keys;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 50; ++i) {
      const std::string role =
          "arn:aws:iam::" + std::to_string(100000000000 + i) + ":role/fleet-" + std::to_string(i);
      const TokenVerdict verdict = rig.verdict(rig.run({.arguments = allowed,
                                                        .variables = web_identity_of(rig),
                                                        .has_keys = false,
                                                        .server = next_server(),
                                                        .config = choosing(role)}));
      CHECK(verdict.problem == "");
      if (round == 0) CHECK(rig.sts.last("/").field("RoleArn") == role);
      if (round == 0) keys.push_back(verdict.key_id);
      CHECK(verdict.key_id == keys[static_cast<std::size_t>(i)]);
      CHECK(verdict.key_id == "ASIASESSION" + std::to_string(i + 1));
    }
  }
  CHECK(rig.sts.calls() == 50);
  CHECK(rig.sts.problem() == "");
}

TEST_CASE("choice: a role outside the patterns gets no session, however it is written") {
  Rig rig;
  const std::string account = ":iam::123456789012:role/fleet-a";
  const Texts others = {
      "arn:aws-cn" + account,
      "arn:aws-us-gov" + account,
      "arn:aws:sts::123456789012:assumed-role/fleet-a/x",
      "arn:aws:iam::123456789012:user/fleet-a",
      "arn:aws:iam::123456789013:role/fleet-a",
      "arn:aws:iam::12345678901:role/fleet-a",
      "arn:aws:iam:us-east-1:123456789012:role/fleet-a",
      "arn:aws:iam::*:role/fleet-a",
      "arn:aws:iam::123456789012:role/x/fleet-a",
      "arn:aws:iam::123456789012:role//fleet-a",
      "arn:aws:iam::123456789012:role/./fleet-a",
      "arn:aws:iam::123456789012:role:fleet-a",
      "arn:aws:iam::123456789012:root",
      "fleet-a",
  };
  for (const ChoiceEscape& escape : choice_escapes(kFleet, kFleetPrefix, others)) {
    CAPTURE(escape.json);
    CHECK(problem_of_escape(rig.run({.arguments = {kAllowed, "--allow-role=" + kFleet},
                                     .config = R"({"roleArn":)" + escape.json + "}"}),
                            "spec.cluster.config.roleArn") == "");
    if (escape.argument.empty()) continue;
    CHECK(problem_of_escape(
              rig.run({.arguments = {kAllowed, "--allow-role=" + kFleet, "--from-profile",
                                     "--role-arn=" + escape.argument}}),
              "--role-arn") == "");
  }
  CHECK(rig.sts.connections() == 0);
}

}  // namespace execcred::test

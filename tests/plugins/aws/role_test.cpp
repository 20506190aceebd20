// SPDX-License-Identifier: Apache-2.0
// Roles that are assumed: by --role-arn, and with a web identity.
#include "rig.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

const std::string kRoleFlag = std::string("--role-arn=") + kRole;

}  // namespace

TEST_CASE("role: a signed AssumeRole, whose session signs the token, in JSON and XML") {
  for (const bool is_xml : {false, true}) {
    CAPTURE(is_xml);
    Rig rig;
    rig.sts.speaks_xml = is_xml;
    const Outcome outcome = rig.run({.arguments = {kRoleFlag}});
    const TokenVerdict verdict = rig.verdict(outcome);
    CHECK(verdict.problem == "");
    CHECK(verdict.key_id == "ASIASESSION1");
    CHECK(rig.sts.problem() == "");
    const Received request = rig.sts.last("/");
    CHECK(request.fields() == Texts{"Action=AssumeRole", std::string("RoleArn=") + kRole,
                                    "RoleSessionName=execcred-aws", "Version=2011-06-15"});
    CHECK(request.header("Accept") == "application/json");
    CHECK(judge_signed_request(request, rig.sts.keys()).key_id == kKeyId);
    CHECK(request.header("Authorization").find("SignedHeaders=content-type;host;x-amz-date,") !=
          std::string::npos);
  }
}

TEST_CASE("role: --session-name and --external-id are sent, and need a role") {
  Rig rig;
  CHECK(rig.problem(rig.run({.arguments = {kRoleFlag, "--session-name=me@example.com",
                                           "--external-id=ab:c/d-1"}})) == "");
  CHECK(rig.sts.last("/").field("RoleSessionName") == "me@example.com");
  CHECK(rig.sts.last("/").field("ExternalId") == "ab:c/d-1");
  CHECK_REFUSAL(rig.run({.arguments = {"--session-name=me"}}), 2, "needs --role-arn");
  CHECK_FAILURE(rig.run({.arguments = {"--external-id=me"}}), 2, "--external-id needs --role-arn");
  CHECK_FAILURE(rig.run({.variables = {"EXECCRED_SESSION_NAME=me"}}), 2,
                "EXECCRED_SESSION_NAME needs --role-arn");
  for (const std::string bad :
       {"--session-name=x", "--session-name=a b", "--session-name=a/b", "--external-id=x",
        "--external-id=a b", "--role-arn=reader", "--role-arn=arn:aws:iam::123:role/x",
        "--role-arn=arn:aws:iam::123456789012:user/x", "--role-arn=arn:aws:iam::123456789012:role/",
        "--role-arn=arn:aws:sts::123456789012:role/x",
        "--role-arn=arn:evil:iam::123456789012:role/x",
        "--role-arn=arn:aws:iam::123456789012:role/x&Action=Y"}) {
    CAPTURE(bad);
    Texts arguments = {bad};
    if (!bad.starts_with("--role-arn")) arguments.push_back(kRoleFlag);
    CHECK_FAILURE(rig.run({.arguments = arguments}), 2, bad.substr(0, bad.find('=')) + ": ");
  }
  CHECK_FAILURE(rig.run({.arguments = {kRoleFlag, "--session-name=" + std::string(65, 'a')}}), 2,
                "is no name of a session");
}

TEST_CASE("role: a session of the environment signs the request for the next session") {
  Rig rig;
  const std::string token = new_secret();
  rig.sts.know("ASIA1", rig.secret, token);
  CHECK(rig.problem(rig.run(
            {.arguments = {kRoleFlag},
             .variables = {"AWS_ACCESS_KEY_ID=ASIA1", "AWS_SESSION_TOKEN=" + token}})) == "");
  CHECK(rig.sts.last("/").header("X-Amz-Security-Token") == token);
  CHECK(rig.sts.problem() == "");
}

TEST_CASE("web identity: an unsigned request with the trimmed token") {
  for (const bool is_xml : {false, true}) {
    CAPTURE(is_xml);
    Rig rig;
    rig.sts.speaks_xml = is_xml;
    const Outcome outcome = rig.run({.variables = web_identity_of(rig), .has_keys = false});
    CHECK(rig.problem(outcome) == "");
    CHECK(rig.sts.problem() == "");
    CHECK(rig.sts.last("/").fields() == Texts{"Action=AssumeRoleWithWebIdentity",
                                              std::string("RoleArn=") + kRole,
                                              "RoleSessionName=execcred-aws", "Version=2011-06-15",
                                              "WebIdentityToken=" + rig.web_identity});
  }
}

TEST_CASE("web identity: AWS_ROLE_SESSION_NAME is sent, and its session assumes a second role") {
  Rig rig;
  const Outcome outcome =
      rig.run({.arguments = {std::string("--role-arn=") + kOtherRole, "--session-name=second"},
               .variables = web_identity_of(rig) + Texts{"AWS_ROLE_SESSION_NAME=first"},
               .has_keys = false});
  CHECK(rig.problem(outcome) == "");
  CHECK(rig.sts.problem() == "");
  const auto requests = rig.sts.requests("/");
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].field("RoleSessionName") == "first");
  CHECK(requests[1].field("RoleSessionName") == "second");
  CHECK(requests[1].field("RoleArn") == kOtherRole);
  CHECK(judge_signed_request(requests[1], rig.sts.keys()).key_id == "ASIASESSION1");
  CHECK(rig.verdict(outcome).key_id == "ASIASESSION2");
}

TEST_CASE("web identity: an unusable token file is an error, and STS is not called") {
  Rig rig;
  const auto with_file = [&](const std::string& path) {
    return rig.run(
        {.variables = {"AWS_WEB_IDENTITY_TOKEN_FILE=" + path, std::string("AWS_ROLE_ARN=") + kRole},
         .has_keys = false});
  };
  CHECK_REFUSAL(with_file("/nowhere/token"), 2, "/nowhere/token");
  CHECK_FAILURE(with_file(rig.sandbox.write("empty", "")), 1, "the token is empty");
  CHECK_FAILURE(with_file(rig.sandbox.write("blank", " \n")), 1, "the token is empty");
  CHECK_FAILURE(with_file(rig.sandbox.write("words", rig.web_identity + " x")), 1,
                "this is more than one word, so it is no token");
  CHECK_FAILURE(with_file(rig.sandbox.write("key", "-----BEGIN PRIVATE KEY-----\nMII\n")), 1,
                "this is a PEM file, not a token");
  CHECK_FAILURE(with_file(rig.sandbox.write("open", rig.web_identity, 0666)), 2,
                "it is writable by other users");
  CHECK_FAILURE(with_file(rig.sandbox.at("home")), 2, "No such file or directory");
  CHECK_REFUSAL(with_file(rig.sandbox.write("old", new_web_identity("s", -60))), 1, "has expired");
  CHECK(rig.sts.connections() == 0);
}

TEST_CASE("web identity: without AWS_ROLE_ARN it is an error, also with --role-arn") {
  Rig rig;
  const Texts file = {"AWS_WEB_IDENTITY_TOKEN_FILE=" + rig.web_identity_path};
  CHECK_REFUSAL(rig.run({.variables = file, .has_keys = false}), 2, "AWS_ROLE_ARN");
  CHECK_FAILURE(rig.run({.arguments = {kRoleFlag}, .variables = file, .has_keys = false}), 2,
                "a web identity is there, and no role for it");
  CHECK_FAILURE(rig.run({.variables = file + Texts{"AWS_ROLE_ARN=reader"}, .has_keys = false}), 2,
                "'reader' is no ARN of a role");
  // AWS_ROLE_ARN alone gives no credentials.
  CHECK_FAILURE(rig.run({.variables = {std::string("AWS_ROLE_ARN=") + kRole}, .has_keys = false}),
                2, "there are no credentials, and AWS_EC2_METADATA_DISABLED is");
  CHECK(rig.sts.connections() == 0);
}

TEST_CASE("AWS_CA_BUNDLE: an STS of another CA is refused, and an invalid bundle is an error") {
  const Rig rig;
  const Sts other;
  const std::string wrong = rig.sandbox.write("other.pem", other.ca_pem());
  const auto with = [&](const std::string& path) {
    return rig.run_cold(
        {.arguments = {kRoleFlag, "--timeout=2s"}, .variables = {"AWS_CA_BUNDLE=" + path}});
  };
  CHECK_FAILURE(with(wrong), 3, "unable to get local issuer certificate");
  CHECK_REFUSAL(with("/nowhere.pem"), 2, "AWS_CA_BUNDLE");
  CHECK_REFUSAL(with(rig.sandbox.write("none.pem", "")), 2, "AWS_CA_BUNDLE");
  CHECK(rig.sts.calls() == 0);
}

TEST_CASE("canary: --show-config does not show an external id" *
          doctest::description("promise 16")) {
  const Rig rig;
  const std::string id = "ownersS3cret/" + std::string("of-the-role");
  blackbox::remember_secret(id);
  for (const Ask& ask : {Ask{.arguments = {kRoleFlag, "--show-config", "--external-id=" + id}},
                         Ask{.arguments = {kRoleFlag, "--show-config"},
                         .variables = {"EXECCRED_EXTERNAL_ID=" + id}}}) {
    const Outcome outcome = rig.run(ask);
    CHECK(outcome.exit_code == 0);
    CHECK(blackbox::shown_setting(outcome.output, "--external-id").starts_with("(set) "));
    CHECK(blackbox::secret_in(outcome.output + outcome.error_output) == "");
  }
}

}  // namespace execcred::test

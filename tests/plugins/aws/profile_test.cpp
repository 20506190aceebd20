// SPDX-License-Identifier: Apache-2.0
// Profiles of the shared files, and the roles that they chain.
#include "rig.hpp"
#include "unit/growth.hpp"

#include <aws/profiles.hpp>
#include <execcred/os/file.hpp>

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

std::string keys(const std::string& id, const std::string& secret) {
  return "aws_access_key_id = " + id + "\naws_secret_access_key = " + secret + "\n";
}

// Runs the plugin without keys in the environment.
Outcome run(const Rig& rig, const Texts& arguments = {}, const Texts& variables = {}) {
  return rig.run_cold({.arguments = arguments, .variables = variables, .has_keys = false});
}

// Profiles "1" to "<count>", each with a role that the next one assumes; "base" has keys.
std::string chain(std::size_t count, const std::string& base) {
  std::string text = "[profile base]\n" + base;
  for (std::size_t i = 1; i <= count; ++i) {
    text += "[profile " + std::to_string(i) + "]\nrole_arn=arn:aws:iam::123456789012:role/r" +
            "\nsource_profile=" + (i == count ? "base" : std::to_string(i + 1)) + "\n";
  }
  return text;
}

Rig& with_known(Rig& rig, const Texts& ids) {
  for (const std::string& id : ids) rig.sts.know(id, rig.secret);
  return rig;
}

}  // namespace

TEST_CASE("profile: keys of the credentials file take precedence over those of the config file") {
  Rig rig;
  with_known(rig, {"AKIACRED", "AKIACONF", "AKIAOTHER"});
  rig.set_config("[default]\n" + keys("AKIACONF", rig.secret) + "[profile other]\n" +
                 keys("AKIAOTHER", rig.secret));
  CHECK(rig.verdict(run(rig)).key_id == "AKIACONF");
  rig.set_credentials("[default]\n" + keys("AKIACRED", rig.secret));
  CHECK(rig.verdict(run(rig)).key_id == "AKIACRED");
  CHECK(rig.verdict(run(rig, {"--profile=other"})).key_id == "AKIAOTHER");
  CHECK(rig.problem(run(rig)) == "");
}

TEST_CASE("profile: both names of the session token are accepted") {
  Rig rig;
  const std::string token = new_secret();
  rig.sts.know("ASIA1", rig.secret, token);
  for (const std::string name : {"aws_session_token", "aws_security_token", "AWS_SESSION_TOKEN"}) {
    CAPTURE(name);
    rig.set_credentials("[default]\n" + keys("ASIA1", rig.secret) + name + "=" + token + "\n");
    CHECK(rig.problem(run(rig)) == "");
  }
}

TEST_CASE("profile: variables set the paths of the files, and /dev/null means no file") {
  Rig rig;
  with_known(rig, {"AKIACRED", "AKIAHOME"});
  rig.set_credentials("[default]\n" + keys("AKIAHOME", rig.secret));
  const std::string path =
      rig.sandbox.write("elsewhere", "[default]\n" + keys("AKIACRED", rig.secret), 0600);
  CHECK(rig.verdict(run(rig, {}, {"AWS_SHARED_CREDENTIALS_FILE=" + path})).key_id == "AKIACRED");
  CHECK(rig.verdict(run(rig, {}, {"AWS_CONFIG_FILE=" + path})).key_id == "AKIAHOME");
  CHECK(rig.verdict(run(rig, {}, {"AWS_SHARED_CREDENTIALS_FILE=~/.aws/credentials"})).key_id ==
        "AKIAHOME");
  CHECK_FAILURE(run(rig, {}, {"AWS_SHARED_CREDENTIALS_FILE=/dev/null"}), 2,
                "there are no credentials, and AWS_EC2_METADATA_DISABLED is");
  CHECK_REFUSAL(run(rig, {}, {"AWS_CONFIG_FILE=/nowhere/config"}), 2, "/nowhere/config");
}

TEST_CASE("profile: a missing profile is an error, unless it is the default one") {
  const Rig rig;
  CHECK_REFUSAL(run(rig, {"--profile=nobody"}), 2, "no profile 'nobody'");
  CHECK_REFUSAL(run(rig, {}, {"AWS_PROFILE=nobody"}), 2, "/home/.aws/config");
  CHECK_REFUSAL(run(rig), 2, "there are no credentials");
}

TEST_CASE("profile: files that other users may write are refused") {
  Rig rig;
  with_known(rig, {"AKIACRED"});
  rig.sandbox.write("home/.aws/credentials", "[default]\n" + keys("AKIACRED", rig.secret), 0666);
  CHECK_FAILURE(run(rig), 2, "it is writable by other users");
  CHECK_FAILURE(run(rig, {}, {"AWS_CONFIG_FILE=" + rig.sandbox.at("home")}), 2,
                "it is writable by other users");
}

TEST_CASE("profile: a role with a source_profile is assumed with all of its settings") {
  Rig rig;
  with_known(rig, {"AKIABASE"});
  rig.set_credentials("[base]\n" + keys("AKIABASE", rig.secret));
  rig.set_config("[profile build]\nrole_arn = " + std::string(kRole) +
                 "\nsource_profile = base\nrole_session_name = ci\nexternal_id = ab-1\n"
                 "duration_seconds = 900\n");
  const Outcome outcome = run(rig, {"--profile=build"});
  CHECK(rig.problem(outcome) == "");
  CHECK(rig.sts.problem() == "");
  CHECK(rig.sts.last("/").fields() == Texts{"Action=AssumeRole", "DurationSeconds=900",
                                            "ExternalId=ab-1", std::string("RoleArn=") + kRole,
                                            "RoleSessionName=ci", "Version=2011-06-15"});
  CHECK(claimed_seconds(outcome) <= 840);
}

TEST_CASE("profile: the roles of a chain are assumed in order, and --role-arn last") {
  Rig rig;
  with_known(rig, {"AKIABASE"});
  const auto role = [](const std::string& name, const std::string& source) {
    return "[profile " + name + "]\nrole_arn = arn:aws:iam::123456789012:role/" + name +
           "\nsource_profile = " + source + "\n";
  };
  rig.set_config("[profile base]\n" + keys("AKIABASE", rig.secret) + role("one", "base") +
                 role("two", "one") + role("three", "two"));
  const Outcome outcome = run(rig, {"--profile=three", std::string("--role-arn=") + kOtherRole});
  CHECK(rig.problem(outcome) == "");
  CHECK(rig.sts.problem() == "");
  const auto requests = rig.sts.requests("/");
  REQUIRE(requests.size() == 4);
  Texts chain;
  for (const Received& request : requests) {
    const std::string signer = judge_signed_request(request, rig.sts.keys()).key_id;
    const std::string arn = request.field("RoleArn");
    chain.push_back(signer + " " + arn.substr(arn.find("role/")));
  }
  CHECK(chain == Texts{"AKIABASE role/one", "ASIASESSION1 role/two", "ASIASESSION2 role/three",
                       "ASIASESSION3 role/path/writer"});
  CHECK(rig.verdict(outcome).key_id == "ASIASESSION4");
}

TEST_CASE("profile: a source's keys win over its role, and a profile may be its own source") {
  Rig rig;
  with_known(rig, {"AKIABASE"});
  const std::string role = "role_arn = " + std::string(kRole) + "\n";
  rig.set_config("[profile base]\n" + role + "source_profile = nobody\n" +
                 keys("AKIABASE", rig.secret) + "[profile build]\n" + role +
                 "source_profile = base\n[profile self]\n" + role + "source_profile = self\n" +
                 keys("AKIABASE", rig.secret));
  CHECK(rig.problem(run(rig, {"--profile=build"})) == "");
  CHECK(rig.problem(run(rig, {"--profile=self"})) == "");
  CHECK(rig.sts.calls() == 2);
  CHECK(rig.sts.problem() == "");
}

TEST_CASE("profile: circular and broken chains, and invalid settings, are errors") {
  struct Case {
    std::string what, config, says;
  };
  const std::string role = "role_arn = " + std::string(kRole) + "\n";
  Rig rig;
  for (const Case& c :
       {Case{"itself", "[profile p]\n" + role + "source_profile = p\n", "leads back"},
        Case{"a circle",
             "[profile p]\n" + role + "source_profile = q\n[profile q]\n" + role +
                 "source_profile = r\n[profile r]\n" + role + "source_profile = q\n",
             "leads back"},
        Case{"back to the first",
             "[profile p]\n" + role + "source_profile = q\n[profile q]\n" + role +
                 "source_profile = p\n",
             "leads back"},
        Case{"nobody", "[profile p]\n" + role + "source_profile = q\n", "'q' is not there"},
        Case{"empty", "[profile p]\n" + role + "source_profile = q\n[profile q]\nregion = x\n",
             "'q' has no credentials"},
        Case{"neither", "[profile p]\n" + role, "either source_profile or credential_source"},
        Case{"both",
             "[profile p]\n" + role +
                 "source_profile = q\ncredential_source = Environment\n[profile q]\n",
             "either source_profile or credential_source"},
        Case{"unknown", "[profile p]\n" + role + "credential_source = Moon\n",
             "'Moon' is not known"},
        Case{"no keys", "[profile p]\n" + role + "credential_source = Environment\n",
             "AWS_ACCESS_KEY_ID is not set"},
        Case{"no container", "[profile p]\n" + role + "credential_source = EcsContainer\n",
             "EcsContainer"},
        Case{"no instance", "[profile p]\n" + role + "credential_source = Ec2InstanceMetadata\n",
             "AWS_EC2_METADATA_DISABLED"},
        Case{"mfa",
             "[profile p]\n" + role + "source_profile = p\nmfa_serial = arn:aws:iam::1:mfa/x\n",
             "mfa_serial"},
        Case{"sso", "[profile p]\nsso_session = x\n", "IAM Identity Center"},
        Case{"sso, the old way", "[profile p]\nsso_start_url = https://x\nsso_account_id = 1\n",
             "IAM Identity Center"},
        Case{"login", "[profile p]\nlogin_session = arn:x\n", "login"},
        Case{"arn", "[profile p]\nrole_arn = me\nsource_profile = p\n", "'me' is no ARN"},
        Case{"empty arn", "[profile p]\nrole_arn =\nsource_profile = p\n", "is no ARN"},
        Case{"session name",
             "[profile p]\n" + role + "source_profile = p\nrole_session_name = a b\n",
             "'a b' is no name"},
        Case{"duration", "[profile p]\n" + role + "source_profile = p\nduration_seconds = 1h\n",
             "duration_seconds"},
        Case{"short duration",
             "[profile p]\n" + role + "source_profile=p\nduration_seconds = 899\n", "'899'"},
        Case{"long duration",
             "[profile p]\n" + role + "source_profile = p\nduration_seconds = 43201\n", "'43201'"},
        Case{"half a key", "[profile p]\naws_access_key_id = AKIA\n", "no secret access key"},
        Case{"two lines", "[profile p]\nrole_arn =\n  " + std::string(kRole) + "\n",
             "several lines"}}) {
    CAPTURE(c.what);
    rig.set_config(c.config);
    const Outcome outcome = run(rig, {"--profile=p"});
    CHECK_FAILURE(outcome, 2, "the profile 'p'");
    CHECK(blackbox::says(outcome, c.says));
  }
  CHECK(rig.sts.connections() == 0);
}

TEST_CASE("profile: credential_source Environment uses the keys even with --profile") {
  Rig rig;
  rig.set_config("[profile p]\nrole_arn = " + std::string(kRole) +
                 "\ncredential_source = Environment\n");
  CHECK(rig.problem(rig.run({.arguments = {"--profile=p"}})) == "");
  CHECK(judge_signed_request(rig.sts.last("/"), rig.sts.keys()).key_id == kKeyId);
}

TEST_CASE(
    "profile: variables override the settings of its web identity, unless --profile is given") {
  Rig rig;
  rig.set_config("[default]\nrole_arn = " + std::string(kRole) + "\nweb_identity_token_file = " +
                 rig.web_identity_path + "\nrole_session_name = of-the-profile\n[profile build]\n" +
                 "source_profile = default\nrole_arn = " + kOtherRole + "\n");
  CHECK(rig.problem(run(rig)) == "");
  CHECK(rig.sts.last("/").field("RoleSessionName") == "of-the-profile");
  const Texts variables = {"AWS_ROLE_SESSION_NAME=of-the-environment"};
  CHECK(rig.problem(run(rig, {}, variables)) == "");
  CHECK(rig.sts.last("/").field("RoleSessionName") == "of-the-environment");
  CHECK(rig.problem(run(rig, {"--profile=default"}, variables)) == "");
  CHECK(rig.sts.last("/").field("RoleSessionName") == "of-the-profile");
  // The web identity is the source of another role.
  CHECK(rig.problem(run(rig, {"--profile=build"})) == "");
  CHECK(rig.sts.last("/").field("RoleArn") == kOtherRole);
  CHECK(rig.sts.problem() == "");
}

TEST_CASE("profile: its role takes precedence over a web identity of the environment") {
  Rig rig;
  with_known(rig, {"AKIABASE"});
  rig.set_config("[default]\nrole_arn = " + std::string(kOtherRole) +
                 "\nsource_profile = base\n[profile base]\n" + keys("AKIABASE", rig.secret));
  CHECK(rig.problem(run(rig, {}, web_identity_of(rig))) == "");
  CHECK(rig.sts.last("/").field("Action") == "AssumeRole");
  // The web identity takes precedence over the profile's keys.
  rig.set_config("[default]\n" + keys("AKIABASE", rig.secret));
  CHECK(rig.problem(run(rig, {}, web_identity_of(rig))) == "");
  CHECK(rig.sts.last("/").field("Action") == "AssumeRoleWithWebIdentity");
}

TEST_CASE("profile: an error in a file names the line, and does not quote it") {
  Rig rig;
  for (const std::string& text :
       Texts{"aws_secret_access_key = " + rig.secret + "\n", "[default\n" + rig.secret + "\n",
             "[default]\n" + rig.secret + "\n", "[default]\na = 1\n[default]\nb = 2\n",
             "[default]\na = " + rig.secret + "\nA = " + rig.secret + "\n",
             "[DEFAULT]\naws_secret_access_key = " + rig.secret + "\n",
             std::string("[default]\na = \x01\n"), "\xef\xbb\xbf[default]\n" + rig.secret + "\n",
             "[default] " + rig.secret + "\n"}) {
    CAPTURE(text);
    rig.set_credentials(text);
    const Outcome outcome = rig.run({.arguments = {"--profile=default"}});
    CHECK_FAILURE(outcome, 2, ": line ");
  }
  rig.set_credentials("");
  rig.set_config("[default]\n[profile default]\n");
  CHECK_FAILURE(rig.run({.arguments = {"--profile=default"}}), 2, "the profile 'default' twice");
}

TEST_CASE("profile: a chain of 20 roles is assumed, and one of 21 or 13,000 roles is refused") {
  Rig rig;
  with_known(rig, {"AKIABASE"});
  rig.set_config(chain(20, keys("AKIABASE", rig.secret)));
  CHECK(rig.problem(run(rig, {"--profile=1", "--timeout=60s"})) == "");
  CHECK(rig.sts.calls() == 20);
  for (const std::size_t roles : {std::size_t{21}, std::size_t{13'000}}) {
    CAPTURE(roles);
    rig.set_config(chain(roles, keys("AKIABASE", rig.secret)));
    CHECK_REFUSAL(run(rig, {"--profile=1"}), 2,
                  "the chain of source_profiles has more than 20 roles");
  }
  CHECK(rig.sts.calls() == 20);
}

TEST_CASE("profile: the time to read a config file is linear in its profiles" *
          doctest::description("promise 30")) {
  const blackbox::Sandbox sandbox;
  check_linear(
      2'000,
      [&sandbox](std::size_t count) {
        return sandbox.write("config-" + std::to_string(count), chain(count, ""), 0600);
      },
      [](const std::string& path) {
        const Environment environment(
            {"AWS_CONFIG_FILE=" + path, "AWS_SHARED_CREDENTIALS_FILE=/dev/null"});
        REQUIRE(aws::Profiles::load(environment, [](const auto& file, std::size_t max_bytes) {
          return read_secret_file(file, max_bytes);
        }));
      });
}

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// What is cached and for which identity, with known defects of other plugins.
#include "build_kind.hpp"
#include "platform.hpp"
#include "support/claim_changes.hpp"
#include "support/processes.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

namespace execcred::test {
namespace {

const Texts kRoleFlag = {std::string("--role-arn=") + kRole};

// The number of clusters: fewer with a sanitizer, which makes each run about ten times slower.
constexpr int kFleet = blackbox::kIsSanitized ? 50 : 1000;

std::string key_of(const Rig& rig, const Outcome& outcome) { return rig.verdict(outcome).key_id; }

}  // namespace

TEST_CASE("cache: 1000 clusters share one session of a role, and each token is signed anew") {
  const Rig rig;
  std::set<std::string> tokens;
  for (int i = 0; i < kFleet; ++i) {
    const std::string name = "spoke-" + std::to_string(i);
    const Outcome outcome = rig.run(
        {.cluster = name, .arguments = kRoleFlag, .server = "https://" + name + ".example.com"});
    CHECK(rig.problem(outcome, name) == "");
    tokens.insert(token_of(outcome));
  }
  CHECK(tokens.size() == kFleet);
  CHECK(rig.sts.calls() == 1);
}

TEST_CASE("cache: 20 processes at once make one call") {
  const Rig rig;
  std::vector<std::unique_ptr<blackbox::Child>> children;
  const blackbox::Command command = rig.command({.arguments = kRoleFlag + Texts{"--timeout=20s"}});
  for (int i = 0; i < 20; ++i) children.push_back(std::make_unique<blackbox::Child>(command));
  for (const auto& child : children) CHECK(rig.problem(child->wait()) == "");
  CHECK(rig.sts.calls() == 1);
}

TEST_CASE("cache: --no-cache calls STS in each run, and no cache directory is made") {
  const Rig rig;
  for (int i = 0; i < 2; ++i) {
    CHECK(rig.problem(
              rig.run({.arguments = kRoleFlag + Texts{"--no-cache"}, .has_cache = false})) == "");
  }
  CHECK(rig.sts.calls() == 2);
  CHECK_FALSE(std::filesystem::exists(rig.cache_path));
}

TEST_CASE("cache: a damaged entry is a miss, and is repaired") {
  const Rig rig;
  CHECK(rig.problem(rig.run({.arguments = kRoleFlag})) == "");
  for (const auto& entry : std::filesystem::directory_iterator(rig.cache_path)) {
    if (entry.path().extension() != ".credential") continue;
    std::ofstream(entry.path(), std::ios::trunc) << "not an entry";
  }
  CHECK(rig.problem(rig.run({.arguments = kRoleFlag})) == "");
  CHECK(rig.problem(rig.run({.arguments = kRoleFlag})) == "");
  CHECK(rig.sts.calls() == 2);
}

TEST_CASE("cache: with an unsafe directory each run calls STS, and one line says so") {
  const Rig rig;
  std::filesystem::create_directory(rig.cache_path);
  std::filesystem::permissions(rig.cache_path, std::filesystem::perms::all);
  for (int i = 0; i < 2; ++i) {
    Outcome outcome = rig.run({.arguments = kRoleFlag});
    CHECK(outcome.error_output.starts_with("execcred-aws: warning: no credential is cached"));
    outcome.error_output.clear();
    CHECK(rig.problem(outcome) == "");
  }
  CHECK(rig.sts.calls() == 2);
}

TEST_CASE("cache: a session that is still good is used while STS is down") {
  Rig rig;
  rig.sts.lifetime = 900;
  // The session is in its refresh window from the start.
  const Texts arguments = kRoleFlag + Texts{"--refresh-before=14m"};
  CHECK(rig.problem(rig.run({.arguments = arguments})) == "");
  rig.sts.answer("", 503);
  CHECK(rig.problem(rig.run({.arguments = arguments})) == "");
}

TEST_CASE("cache: each input of a session's identity, changed alone, selects another entry" *
          doctest::description("promise 4")) {
  Rig rig;
  const std::string token = new_secret();
  rig.sts.know("AKIATWO", rig.secret);
  rig.sts.know("ASIA1", rig.secret, token);
  rig.sts.know("ASIA1B", rig.secret, token + "b");
  const std::string other_secret = new_secret();
  const std::string other_identity =
      rig.sandbox.write("other-identity", new_web_identity("system:serviceaccount:ns:other"));
  const std::string other_issuer = rig.sandbox.write(
      "other-issuer",
      new_web_identity("system:serviceaccount:ns:sa", 3600, "https://other.example"));
  rig.set_config("[profile a]\nrole_arn = " + std::string(kRole) +
                 "\nsource_profile = keys\n[profile b]\nrole_arn = " + kRole +
                 "\nsource_profile = keys\nduration_seconds = 900\n[profile keys]\n" +
                 "aws_access_key_id = " + kKeyId + "\naws_secret_access_key = " + rig.secret +
                 "\n");
  const auto session = [&](const std::string& id, const std::string& session_token) {
    return Texts{"AWS_ACCESS_KEY_ID=" + id, "AWS_SESSION_TOKEN=" + session_token};
  };
  const auto identity = [](const std::string& path, const std::string& role) {
    return Texts{"AWS_WEB_IDENTITY_TOKEN_FILE=" + path, "AWS_ROLE_ARN=" + role};
  };
  const std::vector<Ask> asks = {
      {.arguments = kRoleFlag},
      {.arguments = {std::string("--role-arn=") + kOtherRole}},
      {.arguments = kRoleFlag + Texts{"--session-name=another"}},
      {.arguments = kRoleFlag + Texts{"--external-id=one"}},
      {.arguments = kRoleFlag + Texts{"--external-id=two"}},
      {.arguments = kRoleFlag, .variables = {"AWS_ACCESS_KEY_ID=AKIATWO"}},
      {.arguments = kRoleFlag, .variables = session("ASIA1", token)},
      {.arguments = kRoleFlag, .variables = session("ASIA1B", token + "b")},
      {.region = "eu-west-1", .arguments = kRoleFlag},
      {.arguments = {"--profile=b"}},
      {.variables = identity(rig.web_identity_path, kRole), .has_keys = false},
      {.variables = identity(rig.web_identity_path, kOtherRole), .has_keys = false},
      {.variables = identity(other_identity, kRole), .has_keys = false},
      {.variables = identity(other_issuer, kRole), .has_keys = false},
      {.variables = identity(rig.web_identity_path, kRole) + Texts{"AWS_ROLE_SESSION_NAME=other"},
       .has_keys = false},
      {.arguments = kRoleFlag,
       .variables = identity(rig.web_identity_path, kRole),
       .has_keys = false}};
  std::vector<std::string> first;
  for (const Ask& ask : asks) first.push_back(key_of(rig, rig.run(ask)));
  CHECK(std::set<std::string>(first.begin(), first.end()).size() == asks.size());
  const std::size_t calls = rig.sts.calls();
  for (std::size_t i = 0; i < asks.size(); ++i) {
    CAPTURE(i);
    CHECK(key_of(rig, rig.run(asks[i])) == first[i]);
  }
  CHECK(rig.sts.calls() == calls);
  // Another secret access key with the same ID selects another entry too; STS refuses that key.
  CHECK_FAILURE(
      rig.run({.arguments = kRoleFlag, .variables = {"AWS_SECRET_ACCESS_KEY=" + other_secret}}), 1,
      "answered with the error 'SignatureDoesNotMatch'");
  CHECK(rig.sts.calls() == calls + 1);
}

TEST_CASE("cache: each claim of a web identity is part of the identity") {
  Rig rig;
  rig.sts.takes_any_audience = true;
  check_that_claims_are_identity([&](const std::string& claims) {
    const std::size_t before = rig.sts.calls();
    rig.sandbox.write("web-identity", blackbox::make_jwt(claims));
    CHECK_SUCCESS(
        rig.run({.variables = web_identity_of(rig), .has_keys = false, .server = next_server()}));
    return static_cast<int>(rig.sts.calls() - before);
  });
}

TEST_CASE("cache: no file in it holds the credentials that a session was requested with") {
  Rig rig;
  rig.sts.know("ASIA1", rig.secret, "t0ken-of-the-session");
  CHECK(rig.problem(rig.run({.arguments = kRoleFlag + Texts{"--external-id=ext3rnal-s3cret"},
                             .variables = {"AWS_ACCESS_KEY_ID=ASIA1",
                                           "AWS_SESSION_TOKEN=t0ken-of-the-session"}})) == "");
  CHECK_SUCCESS(rig.run({.variables = web_identity_of(rig), .has_keys = false}));
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(rig.cache_path)) {
    const std::string text = blackbox::read_text(entry.path());
    for (const std::string& hidden : {rig.secret, std::string("t0ken-of-the-session"),
                                      std::string("ext3rnal-s3cret"), rig.web_identity}) {
      CHECK(text.find(hidden) == std::string::npos);
    }
    if (entry.path().extension() == ".credential") ++entries;
  }
  CHECK(entries == 2);
}

TEST_CASE("peer defect 2: a token's claimed end is never after the end of its session") {
  for (const int lifetime : {60, 300, 700, 900}) {
    CAPTURE(lifetime);
    Rig rig;
    rig.sts.lifetime = lifetime;
    const Outcome outcome = rig.run({.arguments = kRoleFlag});
    CHECK(rig.problem(outcome) == "");
    const std::int64_t most = std::min<std::int64_t>(840, claim_for(lifetime));
    CHECK(claimed_seconds(outcome) <= most);
    CHECK(claimed_seconds(outcome) >= most - 10);
    // The same holds for a run that finds the session in the cache.
    CHECK(claimed_seconds(rig.run({.arguments = kRoleFlag})) <= most);
  }
}

TEST_CASE("peer defect 3: five runs assume the role once (aws-iam-authenticator: once per run)") {
  const Rig rig;
  for (int i = 0; i < 5; ++i) CHECK(rig.problem(rig.run({.arguments = kRoleFlag})) == "");
  CHECK(rig.sts.calls() == 1);
}

TEST_CASE("peer defect 9: after a change of AWS_ROLE_ARN the new role's session is used") {
  Rig rig;
  const auto of = [&](const std::string& role) {
    return key_of(rig, rig.run({.variables = web_identity_of(rig, role), .has_keys = false}));
  };
  const std::string one = of(kRole);
  const std::string two = of(kOtherRole);
  CHECK(one != two);
  CHECK(of(kRole) == one);
  CHECK(of(kOtherRole) == two);
  CHECK(rig.sts.calls() == 2);
  CHECK(rig.sts.last("/").field("RoleArn") == kOtherRole);
}

TEST_CASE("peer defect 9: a v1 client is answered in v1, and a v1beta1 client in v1beta1") {
  const Rig rig;
  for (const std::string_view version : {blackbox::kV1Beta1, blackbox::kV1, blackbox::kV1Beta1}) {
    blackbox::Command command = rig.command({.arguments = kRoleFlag, .server = ""});
    command.environment.push_back("KUBERNETES_EXEC_INFO=" + blackbox::exec_info(version, kEks));
    CHECK_SUCCESS(blackbox::run(command), version);
  }
  CHECK(rig.sts.calls() == 1);
}

TEST_CASE("peer defect 9: one cached session serves clusters with two IDs (gke-auth-plugin's -i)") {
  const Rig rig;
  CHECK(rig.problem(rig.run({.cluster = "one", .arguments = kRoleFlag}), "one") == "");
  CHECK(rig.problem(rig.run({.cluster = "two", .arguments = kRoleFlag}), "two") == "");
  CHECK(rig.sts.calls() == 1);
}

}  // namespace execcred::test

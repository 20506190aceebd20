// SPDX-License-Identifier: Apache-2.0
// execcred-aws accepts every configuration that `execcred migrate` writes for users of other
// plugins, and gets a token.
#include "rig.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace execcred::test {
namespace {

using nlohmann::json;

struct Case {
  std::string command;
  Texts arguments = {};
  Texts variables = {};
  std::string role_session = {};  // the RoleSessionName that STS receives; empty: no call
};

json user_of(const Case& c) {
  json env = json::array();
  for (const std::string& entry : c.variables) {
    const std::size_t equals = entry.find('=');
    env.push_back({{"name", entry.substr(0, equals)}, {"value", entry.substr(equals + 1)}});
  }
  return {{"name", "eks"},
          {"user",
           {{"exec",
             {{"apiVersion", "client.authentication.k8s.io/v1beta1"},
              {"command", c.command},
              {"args", c.arguments},
              {"env", env}}}}}};
}

// The user's exec section after the migration; the case fails if it is not migrated.
json migrated(const Case& c) {
  const json kubeconfig = {{"apiVersion", "v1"}, {"kind", "Config"}, {"users", {user_of(c)}}};
  const Outcome outcome = blackbox::run({.arguments = {EXECCRED_BIN "/execcred", "migrate", "-"},
                                         .environment = {"PATH=/usr/bin:/bin"},
                                         .input = kubeconfig.dump()});
  REQUIRE_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  const json exec = json::parse(outcome.output)["users"][0]["user"]["exec"];
  REQUIRE(exec["command"] == "/plugins/execcred-aws");
  return exec;
}

Ask ask_of(const json& exec) {
  Ask ask = {.cluster = "", .region = "", .config = R"({"of":"nobody"})"};
  ask.arguments = exec["args"].get<Texts>();
  for (const json& variable : exec.value("env", json::array())) {
    ask.variables.push_back(variable["name"].get<std::string>() + "=" +
                            variable["value"].get<std::string>());
  }
  return ask;
}

}  // namespace

TEST_CASE("migrate: the plugin accepts the migrated users of each peer, and gets a token") {
  const std::string role = kRole;
  for (const Case& c : std::vector<Case>{
           {"aws-iam-authenticator", {"token", "-i", "demo"}, {"AWS_REGION=eu-west-1"}},
           {"aws-iam-authenticator",
            {"token", "-i", "demo", "--cache", "--region", "eu-west-1", "-s", "me"}},
           {"aws-iam-authenticator",
            {"token", "--cluster-id=demo", "-r", role, "-e", "ab-1", "-s", "me"},
            {"AWS_DEFAULT_REGION=eu-west-1", "AWS_STS_REGIONAL_ENDPOINTS=regional"},
            "me"},
           {"aws-iam-authenticator",
            {"token"},
            {"KUBERNETES_AWS_AUTHENTICATOR_CLUSTER_ID=demo", "DEFAULT_ROLE=" + role,
             "AWS_REGION=eu-west-1"},
            "execcred-aws"},
           {"aws",
            {"--region", "eu-west-1", "eks", "get-token", "--cluster-name", "demo", "--output",
             "json"}},
           {"aws",
            {"eks", "get-token", "--cluster-id", "demo", "--role-arn", role, "--region=eu-west-1"},
            {"AWS_PAGER="},
            "EKSGetTokenAuth"},
           {"aws",
            {"eks", "get-token", "--cluster-name", "demo", "--profile", "ops"},
            {},
            "of-the-profile"},
           {"aws", {"eks", "get-token", "--cluster-name", "demo"}, {"AWS_PROFILE=ops"}},
           {"argocd-k8s-auth", {"aws", "--cluster-name", "demo"}, {"AWS_REGION=eu-west-1"}},
           {"argocd-k8s-auth",
            {"aws", "--cluster-name", "demo", "--role-arn", role},
            {"AWS_REGION=eu-west-1"},
            "execcred-aws"}}) {
    Rig rig;
    rig.set_config("[profile ops]\nregion = eu-west-1\nrole_arn = " + role +
                   "\nsource_profile = base\nrole_session_name = of-the-profile\n" +
                   "[profile base]\naws_access_key_id = " + kKeyId +
                   "\naws_secret_access_key = " + rig.secret + "\n");
    const json exec = migrated(c);
    const std::string text = exec.dump();
    CAPTURE(text);
    const TokenVerdict verdict = rig.verdict(rig.run(ask_of(exec)));
    CHECK(verdict.problem == "");
    CHECK(verdict.region == "eu-west-1");
    CHECK(rig.sts.problem() == "");
    CHECK(rig.sts.calls() == (c.role_session.empty() ? 0 : 1));
    if (c.role_session.empty()) continue;
    CHECK(rig.sts.last("/").field("RoleSessionName") == c.role_session);
  }
}

TEST_CASE("migrate: from a plugin whose ClusterProfiles name the cluster and its region") {
  const Rig rig;
  const std::string mapping =
      R"({"providers":[{"name":"eks","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",)"
      R"("command":"/plugins/eks-aws-auth-plugin","provideClusterInfo":true}}]})";
  const Outcome outcome = blackbox::run({.arguments = {EXECCRED_BIN "/execcred", "migrate", "-"},
                                         .environment = {"PATH=/usr/bin:/bin"},
                                         .input = mapping});
  REQUIRE_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  const json exec = json::parse(outcome.output)["providers"][0]["execConfig"];
  CHECK(exec["command"] == "/plugins/execcred-aws");
  Ask ask = {.cluster = "", .region = ""};
  if (exec.contains("args") && exec["args"].is_array()) ask.arguments = exec["args"].get<Texts>();
  ask.config = R"({"region":"eu-west-1","clusterId":"demo"})";
  CHECK(rig.problem(rig.run(ask)) == "");
}

}  // namespace execcred::test

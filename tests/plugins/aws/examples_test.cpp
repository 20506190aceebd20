// SPDX-License-Identifier: Apache-2.0
// The examples of config/aws are run unchanged, except the paths of files.
#include "platform.hpp"
#include "support/texts.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

// Runs `execcred get` in the environment that the example's README describes.
Outcome run_example(const Rig& rig, const std::string& name, const Texts& surroundings) {
  const auto placed = [&](const std::string& file) {
    std::string content = blackbox::read_text(EXECCRED_SOURCE "/config/aws/" + name + "/" + file);
    content = replaced(content, "/plugins/", EXECCRED_BIN "/");
    content = replaced(content, "/etc/aws/", rig.sandbox.at("aws/"));
    return rig.sandbox.write((file == "config" ? "aws/" : "") + file, content);
  };
  if (name == "profile") placed("config");
  return blackbox::run(
      {.arguments = {std::string(EXECCRED_BIN "/execcred"), "get", "-m", placed("mapping.json"),
                     "-f", placed("clusterprofile.yaml"), "-o", "token"},
       .environment = surroundings +
                      Texts{"HOME=" + rig.sandbox.at("home"),
                            "AWS_ENDPOINT_URL_STS=" + rig.sts.url(), "AWS_CA_BUNDLE=" + rig.ca_path,
                            "AWS_EC2_METADATA_DISABLED=true", "EXECCRED_NO_CACHE=true"}});
}

}  // namespace

TEST_CASE("examples: each mapping gets a token for its ClusterProfile") {
  Rig rig;
  const std::string pod = new_web_identity("system:serviceaccount:fleet:controller");
  Agent agent(rig, pod);
  const std::string pod_token = rig.sandbox.write("pod-token", pod);
  rig.sandbox.write("aws/credentials",
                    std::string("[hub]\naws_access_key_id = ") + kKeyId +
                        "\naws_secret_access_key = " + rig.secret + "\n",
                    0600);
  struct Case {
    std::string name;
    Texts surroundings;
    std::size_t calls;  // of STS
  };
  for (const Case& c : std::vector<Case>{
           {"irsa", web_identity_of(rig) + Texts{"AWS_REGION=us-west-2"}, 1},
           {"role-per-cluster", web_identity_of(rig) + Texts{"AWS_REGION=us-west-2"}, 1},
           {"pod-identity",
            agent.variables() + Texts{"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=" + pod_token}, 0},
           {"role-per-fleet",
            {std::string("AWS_ACCESS_KEY_ID=") + kKeyId, "AWS_SECRET_ACCESS_KEY=" + rig.secret},
            1},
           {"profile", {}, 1}}) {
    CAPTURE(c.name);
    rig.sts.forget();
    const Outcome outcome = run_example(rig, c.name, c.surroundings);
    REQUIRE_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
    const std::string token = outcome.output.substr(0, outcome.output.find('\n'));
    const TokenVerdict verdict = judge_token(token, "spoke-1", rig.sts.keys());
    CHECK(verdict.problem == "");
    CHECK(verdict.region == "us-west-2");
    CHECK(rig.sts.calls() == c.calls);
    CHECK(rig.sts.problem() == "");
    if (c.name == "role-per-cluster") {
      CHECK(rig.sts.last("/").field("RoleArn") == "arn:aws:iam::111111111111:role/fleet-reader");
    }
    if (c.name == "role-per-fleet") CHECK(rig.sts.last("/").field("ExternalId") == "hub-1");
  }
}

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// execcred grant as a program: options, formats, exit codes, --check.
#include "doctor/rig.hpp"

#include <execcred/base/text.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using blackbox::make_jwt;
using blackbox::Outcome;
using doctor_test::ApiRequest;
using doctor_test::Scene;
using nlohmann::json;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Outcome grant(const Scene& scene, const std::vector<std::string>& more) {
  blackbox::Command command;
  command.arguments = {doctor_test::kCli,
                       "grant",
                       "-m",
                       scene.sandbox.write("mapping.json", scene.mapping_text()),
                       "-f",
                       scene.sandbox.write("profiles.json", scene.profile_text())};
  command.arguments.insert(command.arguments.end(), more.begin(), more.end());
  command.environment = {"PATH=/usr/bin:/bin"};
  command.environment.insert(command.environment.end(), scene.environment.begin(),
                             scene.environment.end());
  return blackbox::run(command);
}

// Three clusters: one that works, one whose provider the mapping lacks, one with a broken entry.
std::string fleet(const Scene& scene) {
  const json one = json::parse(scene.profile_text());
  json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", json::array()}};
  for (const char* const name : {"a", "b", "c"}) {
    list["items"].push_back(one);
    list["items"].back()["metadata"]["name"] = name;
  }
  list["items"][1]["status"]["accessProviders"][0]["name"] = "other";
  return list.dump();
}

}  // namespace

TEST_CASE("grant: rules are required, in one of two forms") {
  const Scene scene;
  struct Row {
    std::vector<std::string> options;
    const char* part;
  };
  for (const Row& row :
       {Row{{}, "neither --can nor --cluster-role is given"},
        Row{{"--can=get/pods", "--cluster-role=view"}, "are both given"},
        Row{{"--can=pods"}, "has no '/'"}, Row{{"--can=get/pods,secrets"}, "has a ','"},
        Row{{"--can=get/pods@a b"}, "has no namespace"},
        Row{{"--can=get/po ds"}, "has 'po ds', which is no word of a-z, 0-9 and '-'"},
        Row{{"--can=get/Pods"}, "has 'Pods'"}, Row{{"--can=GET/pods"}, "has 'GET'"},
        Row{{"--can=get/pods/log/x"}, "has 'log/x'"},
        Row{{"--can=get/deployments/scale.apps"}, "has 'scale.apps'"},
        Row{{"--can=get/deployments/scale.apps"}, "get/deployments.apps/scale"},
        Row{{"--cluster-role=a/b"}, "is no name of a ClusterRole"}}) {
    CAPTURE(row.part);
    const Outcome outcome = grant(scene, row.options);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.output.empty());
    CHECK(has(outcome.error_output, row.part));
    CHECK(has(outcome.error_output, "\n  hint: "));
  }
  CHECK(scene.api->requests().empty());
}

TEST_CASE("grant: nothing is sent, and no secret is shown") {
  const Scene scene;
  for (const char* const format : {"yaml", "text", "json"}) {
    CAPTURE(format);
    const Outcome outcome = grant(scene, {"--can=get/pods", "-o", format});
    CHECK(outcome.exit_code == 0);
    CHECK(has(outcome.output, "https://issuer.example.com#system:serviceaccount:ns:sa"));
    CHECK_FALSE(has(outcome.output + outcome.error_output, scene.token));
  }
  CHECK(scene.api->connections() == 0);
}

TEST_CASE("grant: json has what is needed, and nothing that is absent") {
  const Scene scene;
  const json item = json::parse(grant(scene, {"--can=get/pods@x", "-ojson"}).output)["items"][0];
  CHECK(item["namespace"] == "fleet");
  CHECK(item["name"] == "one");
  CHECK(item["provider"] == "p");
  CHECK(item["user"] == "https://issuer.example.com#system:serviceaccount:ns:sa");
  CHECK(item["objects"].size() == 2);
  CHECK(item["authenticationConfiguration"]["jwt"][0]["issuer"]["audiences"][0] == "server");
  CHECK_FALSE(item.contains("commands"));
  CHECK_FALSE(item.contains("groups"));
  CHECK_FALSE(item.contains("otherReading"));
}

TEST_CASE("grant: a bad cluster never harms the others, and each good one is a document") {
  Scene scene;
  scene.profile = fleet(scene);
  const Outcome outcome = grant(scene, {"--can=get/pods"});
  CHECK(outcome.exit_code == 1);
  CHECK(has(outcome.output, "# Cluster fleet/a, provider p, "));
  CHECK(has(outcome.output, "\n---\n# Cluster fleet/c, provider p, "));
  CHECK(
      has(outcome.error_output, "error: fleet/b: none of its access providers is in the mapping"));
  CHECK(has(outcome.error_output, "2 documents, each for its own cluster"));
  const Outcome one = grant(scene, {"--can=get/pods", "--name=fleet/c"});
  CHECK(one.exit_code == 0);
  CHECK_FALSE(has(one.output, "---"));
  const json items = json::parse(grant(scene, {"--can=get/pods", "-ojson"}).output)["items"];
  REQUIRE(items.size() == 3);
  CHECK(items[1].contains("error"));
  CHECK_FALSE(items[1].contains("objects"));
}

TEST_CASE("grant: a name from a token or a ClusterProfile ends no comment and no command") {
  Scene scene;
  scene.more_of_cluster =
      R"(,"extensions":[{"name":"client.authentication.k8s.io/exec","extension":{"clusterName":"x"}}])";
  for (const char* const subject : {R"(a'; rm -rf /; ')", R"(a\" }: [)", "# x", "--- x", "$(id)"}) {
    CAPTURE(subject);
    scene.write_token(make_jwt(R"({"iss":"https://idp.example.com","aud":["a"],"sub":")" +
                               std::string(subject) + R"("})"));
    const Outcome outcome = grant(scene, {"--can=get/pods"});
    CHECK(outcome.exit_code == 0);
    bool is_comment = true;
    for (const std::string_view line : execcred::split(outcome.output, '\n')) {
      if (!line.starts_with("#")) is_comment = false;
      if (!is_comment) CHECK_FALSE(line.starts_with("#"));
      if (!is_comment) CHECK_FALSE(line.starts_with("---"));
    }
  }
  scene.write_token(make_jwt(R"({"iss":"https://idp.example.com","aud":["a"],"sub":"a\nb"})"));
  const Outcome broken = grant(scene, {"--can=get/pods"});
  CHECK(broken.exit_code == 1);
  CHECK(broken.output.empty());
}

TEST_CASE("grant: a token that only the cluster knows is 1, and says whom to ask") {
  Scene scene;
  scene.write_token("0123456789abcdef");
  const Outcome outcome = grant(scene, {"--can=get/pods"});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.output.empty());
  CHECK(has(outcome.error_output, "hint: ask the cluster"));
}

TEST_CASE("grant: a plugin that is unavailable is 3") {
  Scene scene;
  scene.command = scene.sandbox.script("slow", "exec sleep 60");
  scene.args.clear();
  const Outcome outcome = grant(scene, {"--can=get/pods", "--timeout=1s"});
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.output.empty());
}

TEST_CASE("grant: the role of EKS comes from the mapping, the environment or the ClusterProfile") {
  Scene scene;
  scene.server = "https://ABC.gr7.us-west-2.eks.amazonaws.com";
  // Prints a token as the AWS CLI does.
  scene.command = scene.sandbox.script(
      "aws", R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
             R"("status":{"token":"k8s-aws-v1.aHR0cHM"}}')");
  scene.args = {"eks", "get-token", "--cluster-name", "spoke-1"};
  const Outcome unknown = grant(scene, {"--can=get/pods"});
  CHECK(unknown.exit_code == 1);
  CHECK(has(unknown.error_output, "aws sts get-caller-identity"));

  const std::string role = "arn:aws:iam::123456789012:role/fleet/controller";
  scene.environment = {"AWS_ROLE_ARN=" + role};
  CHECK(has(grant(scene, {"--can=get/pods"}).output,
            "#   aws eks create-access-entry --cluster-name spoke-1 --region us-west-2 "
            "--principal-arn " +
                role + " --kubernetes-groups execcred:fleet:one:p\n"));
  scene.environment.clear();
  scene.args.insert(scene.args.end(), {"--role-arn", role});
  CHECK(has(grant(scene, {"--can=get/pods"}).output, "--principal-arn " + role));

  // The same program within execcred-wrap.
  const std::string inner = scene.command;
  scene.command = EXECCRED_BIN "/execcred-wrap";
  scene.environment = {
      "EXECCRED_COMMAND=[\"" + inner + "\",\"eks\",\"--cluster-name\",\"spoke-1\"]",
      "AWS_ROLE_ARN=" + role};
  scene.args = {"--allow-server=https://*.eks.amazonaws.com"};
  const std::string wrapped = grant(scene, {"--can=get/pods"}).output;
  CHECK(has(wrapped, "--cluster-name spoke-1 "));
  CHECK(has(wrapped, "--principal-arn " + role));

  scene.command = EXECCRED_BIN "/execcred-aws";
  scene.environment = {"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=secret",
                       "AWS_ROLE_ARN=" + role};
  scene.args = {"--cluster-id=spoke-1", "--region=us-west-2"};
  const Outcome ours = grant(scene, {"--can=get/pods", "-otext"});
  CHECK(ours.exit_code == 0);
  CHECK(has(ours.output, "--principal-arn " + role));
  CHECK(has(ours.output, "rolearn: arn:aws:iam::123456789012:role/controller\n"));
}

TEST_CASE("grant: --check is 0 if the cluster grants it, and 1 with what is missing") {
  const Scene scene;
  const Outcome granted = grant(scene, {"--can=get/pods", "--check"});
  CHECK(granted.exit_code == 0);
  CHECK_FALSE(has(granted.output, "kind: "));
  CHECK_FALSE(has(granted.output, scene.token));
  CHECK(grant(scene, {"--cluster-role=view", "--check"}).exit_code == 0);
  const Outcome missing = grant(scene, {"--can=get/pods", "--can=list/pods", "--check"});
  CHECK(missing.exit_code == 1);
  CHECK(has(missing.output, "list/pods"));
  CHECK(doctor_test::read_found(grant(scene, {"--can=list/pods", "--check", "-ojson"}).output)
            .cause == "forbidden");
}

TEST_CASE("grant: --check is 1 for a server that is not verified, and 3 without one") {
  Scene insecure;
  insecure.ca = "";
  insecure.more_of_cluster = R"(,"insecure-skip-tls-verify":true)";
  CHECK(grant(insecure, {"--can=get/pods", "--check"}).exit_code == 1);
  for (const ApiRequest& request : insecure.api->requests()) CHECK(request.token.empty());
  Scene gone;
  gone.server = "https://127.0.0.1:1";
  CHECK(grant(gone, {"--can=get/pods", "--check"}).exit_code == 3);
  Scene refused;
  refused.api->answer([](const ApiRequest&) { return doctor_test::unauthorized(); });
  CHECK(grant(refused, {"--can=get/pods", "--check"}).exit_code == 1);
}

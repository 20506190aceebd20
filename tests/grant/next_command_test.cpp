// SPDX-License-Identifier: Apache-2.0
// The commands that lint, doctor and grant print for what comes next.
#include "doctor/rig.hpp"

#include <execcred/base/text.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

using blackbox::Outcome;
using doctor_test::kCli;
using doctor_test::Scene;
using nlohmann::json;

namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kNext = "next: ";

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Texts next_in(const std::string& text) {
  Texts commands;
  for (const std::string_view line : execcred::split(text, '\n')) {
    if (line.starts_with(kNext)) commands.emplace_back(line.substr(kNext.size()));
  }
  return commands;
}

// A mapping and a cluster, in files whose names a shell would split.
class Way {
 public:
  explicit Way(Scene& scene)
      : scene_(&scene),
        mapping_(scene.sandbox.write("it's mine/mapping $(id).json", scene.mapping_text())),
        profiles_(scene.sandbox.write("it's mine/profiles.json", scene.profile_text())) {
    scene.sandbox.script("bin/kubectl", "echo \"kubectl: $*\"; cat");
  }

  Outcome run(Texts arguments) const { return with_path(std::move(arguments)); }
  Outcome run(std::string_view command, const Texts& options) const {
    Texts arguments = {kCli, std::string(command), "-m", mapping_, "-f", profiles_};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return with_path(std::move(arguments));
  }
  Outcome lint(const Texts& options) const {
    Texts arguments = {kCli, "lint", mapping_, profiles_};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return with_path(std::move(arguments));
  }
  Outcome in_shell(const std::string& line) const { return with_path({"/bin/sh", "-c", line}); }

 private:
  Outcome with_path(Texts arguments) const {
    blackbox::Command command;
    command.arguments = std::move(arguments);
    command.environment = {"PATH=" + scene_->sandbox.at("bin") + ":" EXECCRED_BIN ":/usr/bin:/bin"};
    return blackbox::run(command);
  }

  Scene* scene_;
  std::string mapping_;
  std::string profiles_;
};

// Clusters fleet/c0, fleet/c1, … with the server of the scene.
std::string clusters(const Scene& scene, std::size_t count) {
  const json one = json::parse(scene.profile_text());
  json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", json::array()}};
  for (std::size_t i = 0; i < count; ++i) {
    list["items"].push_back(one);
    list["items"].back()["metadata"]["name"] = "c" + std::to_string(i);
  }
  return list.dump();
}

}  // namespace

TEST_CASE("next: each command runs as it is printed, from lint to the doctor after grant") {
  Scene scene;
  scene.args.push_back("--allow-server=" + scene.server);
  const Way way(scene);
  const Outcome lint = way.lint({"--for=kueue"});
  CHECK_MESSAGE(lint.exit_code == 0, describe(lint));
  Texts next = next_in(lint.output);
  REQUIRE(next.size() == 1);
  CHECK(has(next[0], " --can=update/workloads.kueue.x-k8s.io/status"));

  const Outcome doctor = way.in_shell(next[0]);
  CHECK_MESSAGE(doctor.exit_code == 1, describe(doctor));
  CHECK(has(doctor.output, "cause: forbidden"));
  next = next_in(doctor.output);
  REQUIRE(next.size() == 1);
  CHECK(next[0].ends_with(" | kubectl --context=one apply -f -"));

  const Outcome grant = way.in_shell(next[0]);
  CHECK_MESSAGE(grant.exit_code == 0, describe(grant));
  CHECK(grant.output.starts_with("kubectl: --context=one apply -f -\n# Cluster fleet/one, "));
  CHECK(has(grant.output, "    - workloads/status\n"));
  next = next_in(grant.error_output);
  REQUIRE(next.size() == 1);
  // The server has not changed, so it refuses again.
  CHECK(way.in_shell(next[0]).output.find("cause: forbidden") != std::string::npos);
}

TEST_CASE("next: lint names none without a mapping and ClusterProfiles, and none after an error") {
  Scene scene;
  scene.args.push_back("--allow-server=" + scene.server);
  const Way way(scene);
  const Outcome example = way.lint({});
  CHECK(has(example.output, "--can is an example"));
  CHECK(has(next_in(example.output).at(0), " --can=list/namespaces"));
  const std::string mapping = scene.sandbox.write("m.json", scene.mapping_text());
  const std::string profile = scene.sandbox.write("p.json", scene.profile_text());
  CHECK(next_in(way.run({kCli, "lint", mapping, profile}).output) ==
        Texts{"execcred doctor -m=" + mapping + " -f=" + profile + " --can=list/namespaces"});
  CHECK(next_in(way.run({kCli, "lint", mapping, profile, "-n", "fleet", "-l", "!x"}).output)
            .at(0)
            .ends_with(" --namespace=fleet --selector='!x' --can=list/namespaces"));
  CHECK(next_in(way.run({kCli, "lint", mapping}).output).empty());
  CHECK(next_in(way.run({kCli, "lint", profile}).output).empty());
  const std::string second = scene.sandbox.write("m2.json", scene.mapping_text());
  CHECK(next_in(way.run({kCli, "lint", mapping, second, profile}).output).empty());
  scene.server = "http://one.example.com";
  const std::string wrong = scene.sandbox.write("w.json", scene.profile_text());
  const Outcome refused = way.run({kCli, "lint", mapping, wrong});
  CHECK(refused.exit_code == 1);
  CHECK(next_in(refused.output).empty());
}

TEST_CASE("next: no command names the standard input, which the command before it has read") {
  Scene scene;
  scene.args.push_back("--allow-server=" + scene.server);
  const Way way(scene);
  const std::string mapping = scene.sandbox.write("m.json", scene.mapping_text());
  const std::string profile = scene.sandbox.write("p.json", scene.profile_text());
  struct Case {
    std::string command;
    std::string file;
  };
  for (const Case& one :
       std::vector<Case>{{"lint --no-files " + mapping + " ", profile},
                         {"lint --no-files " + profile + " ", mapping},
                         {"doctor --can=list/pods -m " + mapping + " -f ", profile},
                         {"grant --can=list/pods -m " + mapping + " -f ", profile},
                         {"grant --can=list/pods --check -m " + mapping + " -f ", profile},
                         {"init --for=generic --force --plugin p=execcred-token-file -o " +
                              scene.sandbox.at("made") + " -f ",
                          profile}}) {
    CAPTURE(one.command);
    const Outcome of_file = way.in_shell("execcred " + one.command + one.file);
    CHECK_MESSAGE(has(of_file.output + of_file.error_output, kNext), describe(of_file));
    const Outcome of_stream = way.in_shell("execcred " + one.command + "- <" + one.file);
    CHECK(of_stream.exit_code == of_file.exit_code);
    CHECK_FALSE_MESSAGE(has(of_stream.output + of_stream.error_output, kNext), describe(of_stream));
  }
}

TEST_CASE("next: the output of programs has no such line") {
  Scene scene;
  scene.args.push_back("--allow-server=" + scene.server);
  const Way way(scene);
  for (const char* const format : {"json", "yaml", "name", "sarif"}) {
    CAPTURE(format);
    const Outcome lint = way.lint({"-o", format});
    CHECK_FALSE(has(lint.output + lint.error_output, kNext));
  }
  for (const char* const format : {"json", "yaml", "name", "prometheus", "html"}) {
    CAPTURE(format);
    const Outcome doctor = way.run("doctor", {"--can=list/pods", "-o", format});
    CHECK_FALSE(has(doctor.output + doctor.error_output, kNext));
  }
  const Outcome objects = way.run("grant", {"--can=list/pods"});
  CHECK_FALSE(has(objects.output, kNext));
  CHECK(next_in(objects.error_output).size() == 1);
  CHECK(next_in(way.run("grant", {"--can=list/pods", "-otext"}).output).size() == 1);
  const Outcome list = way.run("grant", {"--can=list/pods", "-ojson"});
  CHECK_FALSE(has(list.output + list.error_output, kNext));
}

TEST_CASE("next: two clusters of one name have different contexts") {
  Scene scene;
  json list = json::parse(clusters(scene, 2));
  list["items"][1]["metadata"]["name"] = "c0";
  list["items"][1]["metadata"]["namespace"] = "other";
  scene.profile = list.dump();
  const Texts next = next_in(Way(scene).run("doctor", {"--can=list/pods"}).output);
  REQUIRE(next.size() == 2);
  CHECK(next[0].ends_with(" --name=fleet/c0 | kubectl --context=fleet/c0 apply -f -"));
  CHECK(next[1].ends_with(" --name=other/c0 | kubectl --context=other/c0 apply -f -"));
}

TEST_CASE("next: doctor has a command for each cluster that refuses, and none for other faults") {
  Scene scene;
  CHECK(next_in(Way(scene).run("doctor", {"--can=get/pods"}).output).empty());
  scene.profile = clusters(scene, 12);
  const Way fleet(scene);
  const Outcome many =
      fleet.run("doctor", {"--can=list/pods", "--provider=p", "--parallel=3", "--timeout=30s"});
  const Texts next = next_in(many.output);
  REQUIRE(next.size() == 10);
  CHECK(
      next[1].ends_with(" --provider=p --timeout=30s --parallel=3 --can=list/pods "
                        "--name=fleet/c1 | kubectl --context=c1 apply -f -"));
  CHECK(has(many.output, "\nand so for 2 more, with their --name\n"));
  const Texts one = next_in(fleet.run("doctor", {"--can=list/pods", "--name=c5"}).output);
  REQUIRE(one.size() == 1);
  CHECK(has(one[0], " --name=fleet/c5 | "));
  // The doctor after grant is that of all clusters.
  CHECK_FALSE(has(next_in(fleet.run("grant", {"--can=list/pods", "--name=c5"}).error_output).at(0),
                  "--name"));
  scene.profile.clear();
  scene.api->answer([](const doctor_test::ApiRequest&) { return doctor_test::unauthorized(); });
  CHECK(next_in(Way(scene).run("doctor", {"--can=list/pods"}).output).size() == 1);
  const Texts without_right = next_in(Way(scene).run("doctor", {}).output);
  REQUIRE(without_right.size() == 1);
  CHECK(has(without_right[0], " --can=list/namespaces "));
  scene.server = "https://127.0.0.1:1";
  CHECK(next_in(Way(scene).run("doctor", {"--can=list/pods"}).output).empty());
}

TEST_CASE("next: grant --check that is refused has the command that grants") {
  Scene scene;
  const Way way(scene);
  CHECK(next_in(way.run("grant", {"--can=get/pods", "--check"}).output).empty());
  CHECK(next_in(way.run("grant", {"--can=list/pods", "--check", "--bind-groups"}).output)
            .at(0)
            .ends_with(" --can=list/pods --bind-groups | kubectl --context=one apply -f -"));
}

// SPDX-License-Identifier: Apache-2.0
// `execcred get --all`: the plugins of a fleet, and how each run ended.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"

#include <doctest/doctest.h>

using namespace blackbox;

namespace {

constexpr const char* kToken = "t0ken-of-the-fleet";

// Two clusters with a credential, one whose plugin refuses, one that another controller reaches.
class Fleet {
 public:
  Fleet()
      : inventory_(mapping({mapped("good", programs_.script("good", printing(kToken))),
                            mapped("bad", programs_.script("bad", kRefusal))}),
                   profile("a", {provider("good")}) + "\n---\n" + profile("b", {provider("bad")}) +
                       "\n---\n" + profile("c", {provider("other")}) + "\n---\n" +
                       profile("d", {provider("good", "https://d.example.com")})) {
    remember_secret(kToken);
  }
  Command command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "--all");
    return inventory_.command("get", std::move(arguments));
  }
  Outcome get(std::vector<std::string> arguments = {}) const {
    return run(command(std::move(arguments)));
  }

 private:
  static constexpr const char* kRefusal =
      "echo 'execcred-bad: error: the issuer refused it' >&2\nexit 1";
  Sandbox programs_;
  Inventory inventory_;
};

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("get --all: a failing cluster keeps no other, and no token is shown") {
  const Outcome outcome = Fleet().get();
  CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
  CHECK(outcome.output.starts_with("CLUSTER  PROVIDER  RESULT   EXPIRES  EXIT  TIME"));
  CHECK(outcome.output.find("\nfleet/b  bad       fail     -        1     ") != std::string::npos);
  CHECK(outcome.output.find("execcred-bad: the issuer refused it\n") != std::string::npos);
  CHECK(outcome.output.find("\nfleet/a  good      ok       -        0     ") != std::string::npos);
  CHECK(outcome.output.ends_with("\n4 clusters: 2 ok, 1 fail, 1 skipped\n"));
  CHECK(outcome.output.find("fleet/b") < outcome.output.find("fleet/a"));
  CHECK(outcome.error_output == "");
}

TEST_CASE("get --all: one document for programs, in the order of the source") {
  const Fleet fleet;
  for (const std::string format : {"json", "yaml", "name", "wide", "text"}) {
    CHECK(fleet.get({"-o", format}).output.find(kToken) == std::string::npos);
  }
  const std::string json = fleet.get({"-ojson"}).output;
  CHECK(json_at(json, "items.0.name") == "a");
  CHECK(json_at(json, "items.0.result") == "ok");
  CHECK(json_at(json, "items.1.exitCode") == "1");
  CHECK(json_at(json, "items.1.error") == "execcred-bad: the issuer refused it");
  CHECK(json_at(json, "items.2.result") == "skipped");
  CHECK(json_at(json, "items.3.server") == "https://d.example.com");
  CHECK(fleet.get({"-oyaml"}).output.starts_with("items:\n- namespace: fleet\n  name: a\n"));
  CHECK(fleet.get({"-oname"}).output == "fleet/b\nfleet/a\nfleet/c\nfleet/d\n");
  CHECK(fleet.get({"-owide"}).output.find("https://d.example.com") != std::string::npos);
}

TEST_CASE("get --all: what is chosen, and what is left when nothing is") {
  const Fleet fleet;
  CHECK(fleet.get({"--name=fleet/a"}).exit_code == 0);
  const Outcome of_one = fleet.get({"--provider=good"});
  CHECK_MESSAGE(of_one.exit_code == 0, describe(of_one));
  CHECK(of_one.output.ends_with("\n4 clusters: 2 ok, 0 fail, 2 skipped\n"));
  CHECK_REFUSAL(fleet.get({"--provider=none"}), 2,
                "no ClusterProfile with a provider of the mapping");
  CHECK_REFUSAL(fleet.get({"--name=none"}), 2, "holds no ClusterProfile named 'none'");
  CHECK_REFUSAL(fleet.get({"-n", "elsewhere"}), 2, "holds no ClusterProfile");
  CHECK_REFUSAL(fleet.get({"-o", "token"}), 2, "'token' is no output format of --all");
  CHECK_REFUSAL(fleet.get({"--parallel=0"}), 2, "--parallel: '0' is no number from 1 to 256");
}

TEST_CASE("get --all: a broken document keeps no other") {
  const Sandbox programs;
  const Inventory inventory(mapping({mapped("p", programs.script("p", printing(kToken)))}),
                            profile("a", {provider("p")}) + "\n---\nbroken: [\n---\n" +
                                profile("c", {R"({"name":"p","cluster":{"server":5}})"}));
  const Outcome outcome = inventory.run("get", {"--all", "-ojson"});
  CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
  CHECK(says(outcome, "execcred: error: the document is no valid YAML"));
  CHECK(json_at(outcome.output, "items.0.result") == "ok");
  CHECK(json_at(outcome.output, "items.1.exitCode") == "2");
  CHECK(json_at(outcome.output, "items.1.error").find("server must be a string") !=
        std::string::npos);
}

// Each of the three waits until all three run, so that one after the other they would never end.
TEST_CASE("get --all: --parallel programs run at a time") {
  const Sandbox programs;
  const std::string body = "cd " + programs.path().native() +
                           " && : > \"run.$$\"\nuntil set -- run.*; [ $# -ge 3 ]; do :; done\n" +
                           printing(kToken);
  const Inventory inventory(mapping({mapped("p", programs.script("p", body))}),
                            profile("a", {provider("p")}) + "\n---\n" +
                                profile("b", {provider("p")}) + "\n---\n" +
                                profile("c", {provider("p")}));
  const Outcome outcome = inventory.run("get", {"--all", "--parallel=3"});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output.ends_with("\n3 clusters: 3 ok, 0 fail, 0 skipped\n"));
}

TEST_CASE("get --all: a reader that has gone is no error, and no token was shown") {
  const Fleet fleet;
  Command command = fleet.command({"--provider=good"});
  Pipe gone;
  gone.close_read_end();
  command.before_exec = [&gone] { replace_descriptor(1, gone.write_end()); };
  const Outcome outcome = run(command);
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.error_output == "");
}

// script(1) gives the command a terminal.
TEST_CASE("get --all: verdicts are coloured on a terminal, unless NO_COLOR is set") {
  const Fleet fleet;
  const auto on_terminal = [&](const std::string& variable) {
    std::string line;
    for (const std::string& word : fleet.command({"--provider=good"}).arguments) line += word + " ";
    return run({.arguments = {"/usr/bin/script", "-qec", line, "/dev/null"},
                .environment = {"PATH=/usr/bin:/bin", "TERM=xterm", variable}})
        .output;
  };
  CHECK(on_terminal("NO_COLOR=").find("\x1b[32mok\x1b[0m") != std::string::npos);
  CHECK(on_terminal("NO_COLOR=1").find("  ok  ") != std::string::npos);
  CHECK(on_terminal("NO_COLOR=1").find('\x1b') == std::string::npos);
}

TEST_SUITE_END();

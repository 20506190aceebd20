// SPDX-License-Identifier: Apache-2.0
// The suite's client: which cluster files it accepts, and what it sends.
#include "client.hpp"
#include "child_process.hpp"
#include "rules.hpp"
#include "sandbox.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace blackbox;

TEST_SUITE_BEGIN(kProtocolSuite);

TEST_CASE("--cluster-file: a file that is no cluster is refused, with the reason" * kOfSuite) {
  const Sandbox sandbox;
  struct Case {
    std::string path;
    std::string reason;
  };
  const std::string not_a_cluster = "it must be a JSON object with a server";
  const std::vector<Case> cases = {
      {"", "it cannot be read"},
      {sandbox.at("none"), "it cannot be read"},
      {sandbox.path().native(), "it cannot be read"},
      {"/dev/zero", "it cannot be read"},
      {sandbox.write("large", std::string(64 * 1024 + 1, ' ')), "it is larger than 64 KiB"},
      {sandbox.write("deep", std::string(64 * 1024, '[')), "it is nested too deep"},
      {sandbox.write("empty", ""), not_a_cluster},
      {sandbox.write("half", R"({"server":)"), not_a_cluster},
      {sandbox.write("array", R"(["server"])"), not_a_cluster},
      {sandbox.write("without", R"({"config":{"server":"https://h"}})"), not_a_cluster},
      {sandbox.write("number", R"({"server":6443})"), not_a_cluster},
  };
  const bool needed_one = needs_cluster();
  for (const Case& bad : cases) {
    CAPTURE(bad.path);
    CHECK(use_cluster(bad.path).starts_with(bad.reason));
  }
  CHECK(needs_cluster() == needed_one);
}

TEST_CASE("the members that a case asks for are in the cluster as they were written" * kOfSuite) {
  const std::string text = cluster_with("https://10.1.2.3", R"(,"config":{"a":1.50})");
  CHECK(text.ends_with(R"(,"config":{"a":1.50}})"));
  CHECK(json_at(text, "server").starts_with("https://"));
}

TEST_CASE("the suite: an unknown argument, or a filter without a case, is an error" * kOfSuite) {
  struct Case {
    std::vector<std::string> arguments;
    int exit_code;
    std::string error;
  };
  const std::vector<Case> cases = {
      {{"--list-test-cases"}, 0, ""},
      {{"--list-test-suites", "--dt-no-colors=true"}, 0, ""},
      {{"--reprt", "json"}, 2, "unknown argument '--reprt'"},
      {{"--reprt=json"}, 2, "unknown argument '--reprt=json'"},
      {{"plugin"}, 2, "unknown argument 'plugin'"},
      {{"--test-case=*no such case*"}, 2, "no case was run"},
      {{"--report=json", "--test-case=*no such case*"}, 2, "no case was run"},
  };
  for (const Case& one : cases) {
    Command command{.arguments = {"/proc/self/exe"}};
    command.arguments.insert(command.arguments.end(), one.arguments.begin(), one.arguments.end());
    command.arguments.insert(command.arguments.end(), {"--", "/bin/true"});
    const Outcome outcome = run(command);
    CHECK_MESSAGE(outcome.exit_code == one.exit_code, describe(outcome));
    CHECK_MESSAGE(outcome.error_output.find(one.error) != std::string::npos, describe(outcome));
  }
}

TEST_SUITE_END();

// SPDX-License-Identifier: Apache-2.0
// No secret is shown: in any message, at any verbosity, for any kind of failure.
#include "client.hpp"
#include "rules.hpp"
#include "sandbox.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

using namespace blackbox;

namespace {

constexpr const char* kCanary = "C4naryThatNobodyMayPrint";

struct Run {
  std::string what;
  Command command;
};

std::string with_cluster(const std::string& members) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{)"
         R"("cluster":)" +
         cluster_with("https://10.1.2.3:6443", members) + R"(,"interactive":false}})";
}

// Documents that contain the canary in places that no message needs to quote.
std::vector<std::string> documents() {
  const std::string canary = kCanary;
  const std::string quoted = "\"" + canary + "\"";
  return {
      canary,
      "{\"" + canary,
      "{\"kind\":\"ExecCredential\"," + quoted + ":" + quoted + "}",
      "{\"status\":{\"token\":" + quoted + "}}",
      "{\"spec\":" + quoted + "}",
      "{\"spec\":{\"cluster\":" + quoted + "}}",
      with_cluster(",\"config\":" + quoted),
      with_cluster(",\"config\":{\"password\":" + quoted + "}"),
      with_cluster(",\"config\":{\"password\":[" + quoted + "],\"timeout\":5}"),
      with_cluster(",\"proxy-url\":\"http://user:" + canary + "@proxy:3128\""),
      with_cluster(",\"proxy-url\":\"http://user:" + canary + "@pr oxy\""),
      with_cluster(",\"certificate-authority-data\":" + quoted),
      with_cluster(",\"tls-server-name\":7,\"x\":" + quoted),
      R"({"spec":{"cluster":{"server":"https://user:)" + canary + R"(@10.1.2.3"}}})",
      R"({"spec":{"cluster":{"server":"http://user:)" + canary + R"(@10.1.2.3"}}})",
      R"({"spec":{"cluster":{"server":"https://)" + canary + R"(@"}}})",
      R"({"spec":{"response":{"header":{"Authorization":["Bearer )" + canary + R"("]}}}})",
      with_cluster("") + canary,
  };
}

std::vector<Run> runs() {
  std::vector<Run> runs;
  for (const std::string& document : documents()) {
    for (const std::vector<std::string>& rules : std::vector<std::vector<std::string>>{
             {},
             {"--allow-server=https://other.example.com"},
             {"--allow-server=https://10.1.2.3:6443", "--server-ca-file=/dev/null"}}) {
      if (!rules.empty() && !has_own_rules()) continue;
      runs.push_back({document, plugin_command_with(document, rules)});
    }
  }
  runs.push_back({"success", plugin_command_with(client_info(kV1, "https://10.1.2.3:6443"))});
  if (!has_own_rules()) return runs;
  const std::string canary = kCanary;
  for (const std::string& option :
       {"--no-such-option=" + canary, "--token=" + canary, "--password=" + canary, canary,
        std::string("--timeout=x"), std::string("--version"), std::string("--help")}) {
    runs.push_back({option, answered_command({option})});
  }
  runs.push_back({"other variables", answered_command({}, {"AWS_SECRET_ACCESS_KEY=" + canary,
                                                           "EXECCRED_PASSWORD=" + canary})});
  Run closed{"closed stdout", answered_command()};
  closed.command.before_exec = [] { close(1); };
  runs.push_back(closed);
  Run full{"full stdout", answered_command()};
  full.command.before_exec = [] { open_descriptor(1, "/dev/full", O_WRONLY); };
  runs.push_back(full);
  return runs;
}

}  // namespace

TEST_SUITE_BEGIN(kProtocolSuite);

TEST_CASE("no message shows the credential or a secret of the input, whatever happens" *
          doctest::description("promise 16")) {
  REQUIRE(!secrets_of_plugin().empty());
  remember_secret(kCanary);
  int failures = 0;
  int successes = 0;
  int showed = 0;
  for (Run& run : runs()) {
    CAPTURE(run.what);
    for (const bool is_debug : {false, true}) {
      if (is_debug && !has_own_rules()) continue;
      Command command = run.command;
      if (is_debug) command.arguments.insert(command.arguments.begin() + 1, "--debug");
      const Outcome outcome = blackbox::run(command);
      const std::string secret = secret_in(outcome.error_output);
      CHECK(secret == "");
      showed += secret.empty() ? 0 : 1;
      if (has_own_rules()) CHECK(outcome.output.find(kCanary) == std::string::npos);
      if (outcome.exit_code == 0) {
        ++successes;
      } else {
        ++failures;
        CHECK_RULE(outcome.output.empty(), "it failed and wrote to stdout");
        if (!is_debug && has_own_rules()) CHECK_FAILURE(outcome, outcome.exit_code, ": error: ");
      }
    }
  }
  MESSAGE("runs that showed a secret: " << showed << " of " << failures + successes);
  // Runs succeeded, and runs failed.
  CHECK(successes > 0);
  if (!has_own_rules()) return;
  CHECK(failures > 40);
  CHECK(successes > 10);
}

TEST_CASE("--show-config shows no secret" * kOwnRules) {
  REQUIRE(!secrets_of_plugin().empty());
  remember_secret(kCanary);
  for (const std::string& document : documents()) {
    CAPTURE(document);
    const Outcome outcome = run(plugin_command_with(document, {"--show-config"}));
    CHECK(secret_in(outcome.output + outcome.error_output) == "");
    if (outcome.exit_code == 0) CHECK(outcome.output.find("--timeout") != std::string::npos);
  }
}

TEST_CASE("the check for secrets finds one" * kOfSuite) {
  const std::string secret = secrets_of_plugin().front();
  CHECK(secret_in("a: " + secret + "\n") != "");
  CHECK(secret_in("error: " + secret.substr(0, secret.size() / 2)) != "");
  CHECK(secret_in("error: nothing to see") == "");
}

TEST_SUITE_END();

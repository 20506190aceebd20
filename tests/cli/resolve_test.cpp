// SPDX-License-Identifier: Apache-2.0
// `execcred resolve`: what would run, and why; nothing runs.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "support/certificates.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <array>

using namespace blackbox;

namespace {

constexpr const char* kExec =
    R"(,"args":["--a=1","two words"],"env":[{"name":"A","value":"b"}],"provideClusterInfo":true,)"
    R"("interactiveMode":"IfAvailable","installHint":"get it")";

Outcome resolve(const std::string& more_of_exec, const std::string& more_of_cluster,
                std::vector<std::string> arguments) {
  const Inventory inventory(
      mapping({mapped("p", "/no/such/plugin", more_of_exec)}),
      profile("c1", {provider("p", "https://10.1.2.3:6443", more_of_cluster)}));
  return inventory.run("resolve", std::move(arguments));
}

bool has_line(const Outcome& outcome, const std::string& name, const std::string& value) {
  const std::size_t at = outcome.output.find(name + " ");
  if (at == std::string::npos || (at > 0 && outcome.output[at - 1] != '\n')) return false;
  const std::string line = outcome.output.substr(at, outcome.output.find('\n', at) - at);
  return line.substr(name.size()).find_first_not_of(' ') != std::string::npos &&
         line.substr(line.find_first_not_of(' ', name.size())) == value;
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("resolve -o text, the default: aligned lines") {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{}, {"-o", "text"}}) {
    const Outcome outcome = resolve(
        kExec, ",\"extensions\":[" + extension(kExecExtension, R"({"n":1})") + "]", arguments);
    REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(outcome.error_output == "");
    CHECK(has_line(outcome, "ClusterProfile", "fleet/c1"));
    CHECK(has_line(outcome, "Provider", "p (status.accessProviders[0])"));
    CHECK(has_line(outcome, "Server", "https://10.1.2.3:6443"));
    CHECK(has_line(outcome, "Command", "/no/such/plugin"));
    CHECK(has_line(outcome, "Arguments", "--a=1"));
    CHECK(outcome.output.find("two words\n") != std::string::npos);
    CHECK(has_line(outcome, "Environment", "A=b"));
    CHECK(has_line(outcome, "API version", "client.authentication.k8s.io/v1"));
    CHECK(has_line(outcome, "Cluster info", "provided"));
    CHECK(has_line(outcome, "Config", R"({"n":1})"));
    CHECK(outcome.output.find("Why") != std::string::npos);
  }
}

TEST_CASE("resolve -o text: line breaks and terminal escapes are escaped, a password is hidden") {
  const Outcome outcome = resolve(
      R"(,"args":["a\nServer https://fake","\u001b[2J\u009b"])",
      R"(,"proxy-url":"http://user:Pr0xyPassw0rdCanary@proxy:3128","insecure-skip-tls-verify":true)",
      {});
  REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output.find("\nServer https://fake") == std::string::npos);
  CHECK(outcome.output.find('\x1b') == std::string::npos);
  CHECK(outcome.output.find("\xc2\x9b") == std::string::npos);
  CHECK(outcome.output.find("Pr0xyPassw0rdCanary") == std::string::npos);
  CHECK(outcome.output.find("NOT verified") != std::string::npos);
}

TEST_CASE("resolve -o exec-config: what a kubeconfig has under users[].user.exec") {
  const Outcome outcome = resolve(kExec, "", {"-o", "exec-config"});
  REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(is_same_json(
      outcome.output,
      R"({"items":[{"apiVersion":"client.authentication.k8s.io/v1","command":"/no/such/plugin",)"
      R"("args":["--a=1","two words"],"env":[{"name":"A","value":"b"}],)"
      R"("installHint":"get it","interactiveMode":"IfAvailable",)"
      R"("provideClusterInfo":true}]})"));
  const Outcome least = resolve("", "", {"-o", "exec-config"});
  CHECK(is_same_json(
      least.output,
      R"({"items":[{"apiVersion":"client.authentication.k8s.io/v1","command":"/no/such/plugin",)"
      R"("interactiveMode":"Never","provideClusterInfo":false}]})"));
}

TEST_CASE("resolve -o json: every field of the cluster is kept") {
  const std::string data = base64(kAuthorityOne);
  const Outcome outcome =
      resolve(kExec,
              R"(,"tls-server-name":"bar","disable-compression":true,)"
              R"("certificate-authority-data":")" +
                  data + R"(","proxy-url":"http://h:9","extensions":[)" +
                  extension(kExecExtension, R"({"big":123456789012345678901234567890})") + "]",
              {"-o", "json"});
  REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(json_at(outcome.output, "items.0.clusterProfile.namespace") == "fleet");
  CHECK(json_at(outcome.output, "items.0.clusterProfile.name") == "c1");
  CHECK(json_at(outcome.output, "items.0.provider") == "p");
  CHECK(json_at(outcome.output, "items.0.source") == "status.accessProviders[0]");
  CHECK(json_at(outcome.output, "items.0.why") != "(missing)");
  CHECK(json_at(outcome.output, "items.0.exec.command") == "/no/such/plugin");
  CHECK(json_at(outcome.output, "items.0.cluster.server") == "https://10.1.2.3:6443");
  CHECK(json_at(outcome.output, "items.0.cluster.tls-server-name") == "bar");
  CHECK(json_at(outcome.output, "items.0.cluster.disable-compression") == "true");
  CHECK(json_at(outcome.output, "items.0.cluster.certificate-authority-data") == data);
  CHECK(json_at(outcome.output, "items.0.cluster.proxy-url") == "http://h:9");
  CHECK(outcome.output.find("123456789012345678901234567890") != std::string::npos);
}

TEST_CASE("resolve: an unknown format is a usage error") {
  for (const std::string format : {"xml", "token", "exec-credential", "JSON"}) {
    CHECK_REFUSAL(resolve("", "", {"-o", format}), 2, "exec-config");
  }
}

TEST_CASE("resolve does not run the plugin") {
  const Sandbox sandbox;
  const std::string proof = sandbox.at("ran");
  const Inventory inventory(mapping({mapped("p", sandbox.script("plugin", "touch " + proof))}),
                            profile("c1", {provider("p")}));
  CHECK(inventory.run("resolve").exit_code == 0);
  CHECK(!std::filesystem::exists(proof));
  inventory.run("get");
  CHECK(std::filesystem::exists(proof));
}

TEST_CASE("the mapping's order chooses among a profile's providers, not the profile's order") {
  const std::string entries =
      mapping({mapped("first", "/bin/first"), mapped("second", "/bin/second"),
               mapped("third", "/bin/third")});
  const auto chosen = [&entries](const std::vector<std::string>& names, const std::string& field) {
    std::vector<std::string> providers;
    for (const std::string& name : names) providers.push_back(provider(name));
    const Inventory inventory(entries, profile("c1", providers, field));
    return json_at(inventory.run("resolve", {"-o", "json"}).output, "items.0.exec.command");
  };
  for (const std::string field : {"accessProviders", "credentialProviders"}) {
    CHECK(chosen({"third", "second", "first"}, field) == "/bin/first");
    CHECK(chosen({"unknown", "third", "second"}, field) == "/bin/second");
    CHECK(chosen({"third"}, field) == "/bin/third");
    CHECK(chosen({"unknown"}, field) == "(no JSON)");
    CHECK(chosen({"First"}, field) == "(no JSON)");
  }
}

TEST_CASE("accessProviders win over credentialProviders for the same name") {
  std::string both = profile("c1", {provider("p", "https://new"), provider("x", "https://new")});
  const std::string old = R"("status":{"credentialProviders":[)" + provider("p", "https://old") +
                          "," + provider("q", "https://only-old") + "],";
  both.replace(both.find("\"status\":{"), 10, old);
  const auto server = [&both](const std::string& name) {
    const Inventory inventory(mapping({mapped(name, "/bin/true")}), both);
    return json_at(inventory.run("resolve", {"-o", "json"}).output, "items.0.cluster.server");
  };
  CHECK(server("p") == "https://new");
  CHECK(server("q") == "https://only-old");
  // The mapping's order comes first: q is only in the deprecated list, and is still chosen.
  const Inventory inventory(mapping({mapped("q", "/bin/q"), mapped("p", "/bin/p")}), both);
  const Outcome outcome = inventory.run("resolve", {"-o", "json"});
  CHECK(json_at(outcome.output, "items.0.exec.command") == "/bin/q");
  CHECK(json_at(outcome.output, "items.0.source") == "status.credentialProviders[1]");
}

TEST_CASE("--provider chooses a provider other than the mapping's first") {
  const Inventory inventory(
      mapping({mapped("a", "/bin/a"), mapped("b", "/bin/b"), mapped("c", "/bin/c")}),
      profile("c1", {provider("a"), provider("b"), provider("z")}));
  const Outcome outcome = inventory.run("resolve", {"-o", "json", "--provider", "b"});
  CHECK(json_at(outcome.output, "items.0.exec.command") == "/bin/b");
  CHECK_REFUSAL(inventory.run("resolve", {"--provider=c"}), 2, "'c' is not in the ClusterProfile");
  CHECK_REFUSAL(inventory.run("resolve", {"--provider=z"}), 2, "'z' is not in the mapping");
  CHECK_REFUSAL(inventory.run("resolve", {"--provider=nobody"}), 2, "'a', 'b', 'z'");
  CHECK_FAILURE(inventory.run("resolve", {"--provider="}), 2, "--provider has an empty value");
}

TEST_CASE("resolve: a broken provider is an error only if it is chosen") {
  const Inventory inventory(
      mapping({mapped("a", "/bin/a"), mapped("b", "/bin/b")}),
      profile("c1", {provider("a"), R"({"name":"b","cluster":{"server":5}})"}));
  CHECK(inventory.run("resolve").exit_code == 0);
  CHECK_REFUSAL(inventory.run("resolve", {"--provider=b"}), 2,
                "status.accessProviders[1].cluster.server");
}

TEST_CASE("resolve: a slow reader of standard error gets every one of 2,000 problems") {
  constexpr int kProblems = 2000;
  std::string profiles = profile("good", {provider("p")});
  for (int i = 0; i < kProblems; ++i) {
    profiles += "\n---\n" + profile("bad" + std::to_string(i), {provider("p", "http://10.1.2.3")});
  }
  const Inventory inventory(mapping({mapped("p", "/no/such/plugin")}), profiles);
  Pipe messages;
  Command command = inventory.command("resolve");
  command.before_exec = [&messages] { replace_descriptor(2, messages.write_end()); };
  Child child(command);
  messages.close_write_end();
  // Reads nothing until the pipe is full and the program waits for its reader, or has ended.
  constexpr int kFull = 50'000;  // a pipe takes 64 KiB, less if its pages are not full
  REQUIRE(wait_until([&] {
    return messages.pending() > kFull &&
           (!is_running(child.pid()) || process_status(child.pid(), "State").starts_with('S'));
  }));
  std::string text;
  std::array<char, 4096> buffer = {};
  for (ssize_t count = 1; count > 0;) {
    count = read(messages.read_end(), buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const Outcome outcome = child.wait();
  CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
  CHECK(has_line(outcome, "ClusterProfile", "fleet/good"));
  int told = 0;
  for (std::size_t at = text.find("execcred: error: "); at != std::string::npos;
       at = text.find("execcred: error: ", at + 1)) {
    ++told;
  }
  CHECK(told == kProblems);
  CHECK(text.ends_with('\n'));
}

TEST_SUITE_END();

// SPDX-License-Identifier: Apache-2.0
// `execcred get`: every output format.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "support/certificates.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace blackbox;

namespace {

constexpr const char* kEnd = "2100-01-02T03:04:05Z";
constexpr const char* kKey =
    "-----BEGIN EC PRIVATE KEY-----\nc2VjcmV0\n-----END EC PRIVATE KEY-----\n";

std::string answer(const std::string& status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{)" +
         status + "}}";
}

std::string printing_answer(const std::string& status) {
  return "cat <<'END'\n" + answer(status) + "\nEND";
}

std::string token_status() {
  return R"("token":"t0ken-of-p","expirationTimestamp":")" + std::string(kEnd) + "\"";
}

std::string certificate_status() {
  return "\"clientCertificateData\":" + json_string(kAuthorityOne) +
         ",\"clientKeyData\":" + json_string(kKey);
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("get -o exec-credential, the default: one document by the protocol's rules") {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {}, {"-o", "exec-credential"}, {"--output=exec-credential"}, {"-o=exec-credential"}}) {
    const Outcome outcome = get_from_script(printing_answer(token_status()), arguments);
    CHECK_SUCCESS(outcome);
    const Answer given = read_answer(outcome.output);
    CHECK(given.token == "t0ken-of-p");
    CHECK(given.expiration == parse_timestamp(kEnd));
  }
}

TEST_CASE("get: no field is added that the plugin did not give") {
  const Outcome outcome = get_from_script(printing_answer(R"("token":"t")"));
  CHECK(outcome.exit_code == 0);
  CHECK(is_same_json(outcome.output, answer(R"("token":"t")")));
  CHECK(outcome.output.find("expirationTimestamp") == std::string::npos);
  const Outcome tolerated = get_from_script(
      printing_answer(R"("token":"t","clientKeyData":null,"clientCertificateData":"","other":1)"));
  CHECK(is_same_json(tolerated.output, answer(R"("token":"t")")));
}

TEST_CASE("get: a time with an offset or a fraction means the same moment") {
  for (const std::string time : {"2100-01-02T03:04:05Z", "2100-01-02T03:04:05.999999999Z",
                                 "2100-01-02T05:04:05+02:00", "2100-01-01T22:34:05-04:30"}) {
    CAPTURE(time);
    const Outcome outcome =
        get_from_script(printing_answer(R"("token":"t","expirationTimestamp":")" + time + "\""));
    CHECK_SUCCESS(outcome);
    CHECK(read_answer(outcome.output).expiration == parse_timestamp(kEnd));
  }
}

TEST_CASE("get -o exec-credential: a certificate arrives byte for byte") {
  const Outcome outcome = get_from_script(printing_answer(certificate_status()));
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(json_at(outcome.output, "status.clientCertificateData") == kAuthorityOne);
  CHECK(json_at(outcome.output, "status.clientKeyData") == kKey);
  CHECK(json_at(outcome.output, "status.token") == "(missing)");
}

TEST_CASE("get -o token: the token and a newline") {
  const Outcome outcome = get_from_script(printing_answer(token_status()), {"-o", "token"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output == "t0ken-of-p\n");
  CHECK(outcome.error_output == "");
}

TEST_CASE("get -o header: a header line for curl -H") {
  const Outcome outcome = get_from_script(printing_answer(token_status()), {"-o", "header"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output == "Authorization: Bearer t0ken-of-p\n");
}

TEST_CASE("get -o json: the credential with its ClusterProfile, provider and server") {
  const Outcome outcome = get_from_script(printing_answer(token_status()), {"-o", "json"});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(is_same_json(outcome.output, R"({"clusterProfile":"fleet/c1","provider":"p","server":)"
                                     R"("https://10.1.2.3:6443","expirationTimestamp":")" +
                                         std::string(kEnd) + R"(","token":"t0ken-of-p"})"));
  CHECK(outcome.output.ends_with("\n"));
  const Outcome pair = get_from_script(printing_answer(certificate_status()), {"-o", "json"});
  CHECK(json_at(pair.output, "clientCertificateData") == kAuthorityOne);
  CHECK(json_at(pair.output, "clientKeyData") == kKey);
  CHECK(json_at(pair.output, "token") == "(missing)");
}

TEST_CASE("get: a certificate cannot be printed as a token or a header") {
  remember_secret(kKey);
  for (const std::string format : {"token", "header"}) {
    CHECK_REFUSAL(get_from_script(printing_answer(certificate_status()), {"-o", format}), 1,
                  "certificate");
  }
}

TEST_CASE("get: an unknown format is a usage error, before anything runs") {
  const Sandbox sandbox;
  const std::string proof = sandbox.at("ran");
  for (const std::string format : {"yaml", "TOKEN", "text", "exec-config", "wide"}) {
    CAPTURE(format);
    const Outcome outcome =
        get_from_script("touch " + proof + "\n" + printing("t"), {"-o", format});
    CHECK_REFUSAL(outcome, 2, "'" + format + "'");
    CHECK(says(outcome, "exec-credential"));
  }
  CHECK_FAILURE(get_from_script(printing("t"), {"-o", ""}), 2, "--output has an empty value");
  CHECK_REFUSAL(get_from_script(printing("t"), {"-o"}), 2, "--output");
  CHECK(!std::filesystem::exists(proof));
}

TEST_CASE("get: no failure shows what the plugin printed") {
  remember_secret("C4naryInTheAnswer");
  const std::string canary = "C4naryInTheAnswer";
  for (const std::string& status :
       {"\"token\":\"" + canary + "\\n\"", "\"token\":\"" + canary + "\",\"clientKeyData\":\"k\"",
        "\"token\":\"" + canary + R"(","expirationTimestamp":"2020-01-01T00:00:00Z")",
        "\"token\":\"" + canary + R"(","expirationTimestamp":"never")",
        "\"token\":\"" + canary + "\",\"token\":\"" + canary + "\"",
        "\"token\":[\"" + canary + "\"]", "\"clientKeyData\":\"" + canary + "\"",
        "\"token\":\"" + canary, "\"token\":\"" + canary + "\xff\""}) {
    CAPTURE(status);
    CHECK_FAILURE(get_from_script(printing_answer(status)), 1, "reading what");
  }
  CHECK_FAILURE(get_from_script("printf %s " + canary), 1,
                "it is no valid JSON at line 1, column 1");
  CHECK_FAILURE(get_from_script("printf %s " + canary + "\nexit 1"), 1, "ended with exit code 1");
}

// However the plugin ends, or the run.
TEST_CASE("get: what the plugin leaves running in a session of its own ends with the run" *
          doctest::description("promise 26")) {
  const Sandbox programs;
  const auto inventory = [&](const std::string& name, const std::string& last) {
    return Inventory(
        mapping({mapped("p", programs.script(name, daemon_in(programs.at(name + ".pid")) + last))}),
        profile("a", {provider("p")}));
  };
  const auto pid_of = [&](const std::string& name) {
    const std::string text = read_text(programs.at(name + ".pid"));
    return text.ends_with('\n') ? std::stoi(text) : 0;
  };
  const auto has_ended = [&](const std::string& name) {
    const pid_t pid = pid_of(name);
    return pid > 0 && wait_until([pid] { return !is_running(pid); });
  };
  CHECK_SUCCESS(inventory("good", printing_answer(token_status())).run("get"));
  CHECK(has_ended("good"));
  CHECK(inventory("bad", "exit 1").run("get").exit_code == 1);
  CHECK(has_ended("bad"));
  CHECK(inventory("slow", "exec sleep 1000").run("get", {"--timeout=1s"}).exit_code == 3);
  CHECK(has_ended("slow"));
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    CAPTURE(signal);
    const std::string name = "signal-" + std::to_string(signal);
    const Inventory hanging = inventory(name, "exec sleep 1000");
    Child child(hanging.command("get", {"--timeout=60s"}));
    REQUIRE(wait_until([&] { return pid_of(name) > 0; }));
    child.send(signal);
    CHECK(child.wait().signal == signal);
    CHECK(has_ended(name));
  }
}

TEST_CASE("get: children of the program that became execcred are not ended") {
  const Sandbox programs;
  const Inventory inventory(
      mapping({mapped("p", programs.script("p", printing_answer(token_status())))}),
      profile("a", {provider("p")}));
  Command command = inventory.command("get");
  std::string words;
  for (const std::string& word : command.arguments) words += " '" + word + "'";
  command.arguments = {
      "/bin/sh", "-c",
      "sleep 1000 >/dev/null 2>&1 & echo $! >'" + programs.at("pid") + "'; exec" + words};
  CHECK_SUCCESS(run(command));
  const pid_t pid = std::stoi(read_text(programs.at("pid")));
  CHECK(is_running(pid));
  send_signal(pid, SIGKILL);
}

TEST_CASE("get: execcred-token-file gives a credential by its mapping and ClusterProfile") {
  const Sandbox sandbox;
  const std::string token = jwt_for(3600);
  remember_secret(token);
  sandbox.write("tokens/c1/token", token);
  const std::string args = R"(,"args":["--token-file=)" + sandbox.at("tokens/{clusterName}/token") +
                           R"(","--allow-server=https://*.example.com:6443"])";
  const std::string more =
      ",\"extensions\":[" +
      extension(kExecExtension, R"({"clusterName":"c1","audience":"server"})") + "]";
  const auto get = [&](const std::string& exec, const std::string& server) {
    return Inventory(mapping({mapped("p", kTokenFile, exec)}),
                     profile("c1", {provider("p", server, more)}))
        .run("get");
  };
  const Outcome given = get(args + R"(,"provideClusterInfo":true)", "https://a.example.com:6443");
  CHECK_SUCCESS(given);
  CHECK(read_answer(given.output).token == token);
  CHECK_REFUSAL(get(args + R"(,"provideClusterInfo":true)", "https://evil.example:6443"), 1,
                "matches no --allow-server");
  CHECK_REFUSAL(get(args, "https://a.example.com:6443"), 2, "provideClusterInfo: true");
}

TEST_SUITE_END();

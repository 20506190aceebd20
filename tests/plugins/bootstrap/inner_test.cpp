// SPDX-License-Identifier: Apache-2.0
// The plugin that gives the bootstrap credential: its inputs, and its possible results.
#include "bootstrap.hpp"
#include "build_kind.hpp"
#include "support/tls_identity.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

// Nothing was sent to the cluster.
void check_sent_nothing(const Bootstrap& rig) { CHECK(rig.api.server.connections() == 0); }

std::string pair_status(const Identity& certificate, const Identity& key) {
  return exec_credential(R"({"clientCertificateData":)" + blackbox::json_string(certificate.pem) +
                         R"(,"clientKeyData":)" + blackbox::json_string(key.key_pem) + "}");
}

}  // namespace

TEST_CASE("inner: it gets the document that the client gave, and an empty standard input") {
  const Bootstrap rig;
  rig.set_inner("read -r line && exit 9\n/bin/cat '" + rig.sandbox.at("inner/output") + "'\n");
  blackbox::Command command = rig.command({.config = R"({"clusterName":"spoke-1","n":1e400})"});
  command.input = "from the terminal\n";
  CHECK_SUCCESS(blackbox::run(command));
  CHECK("KUBERNETES_EXEC_INFO=" + rig.inner_document() == command.environment.back());
}

TEST_CASE("inner: it gets the document of --exec-info, from a file and from standard input") {
  const Bootstrap rig;
  const std::string document =
      rig.command({}).environment.back().substr(std::string("KUBERNETES_EXEC_INFO=").size());
  const std::string path = rig.sandbox.write("info.json", document);
  // --exec-info overrides the document in the environment, which a parent process may have left.
  const Ask stale{.arguments = {"--exec-info=" + path},
                  .variables = {"KUBERNETES_EXEC_INFO={}"},
                  .has_cluster = false};
  CHECK_SUCCESS(rig.run(stale));
  CHECK(rig.inner_document() == document);
  rig.clear_cache();
  blackbox::Command command = rig.command({.arguments = {"--exec-info=-"}, .has_cluster = false});
  command.input = document;
  CHECK_SUCCESS(blackbox::run(command));
  CHECK(rig.inner_document() == document);
  CHECK(rig.inner_runs() == 2);
}

TEST_CASE("inner: a document without apiVersion is passed on with the one of --api-version") {
  const Bootstrap rig;
  std::string document = rig.command({}).environment.back();
  const std::string member = R"("apiVersion":"client.authentication.k8s.io/v1",)";
  REQUIRE(document.find(member) != std::string::npos);
  document.erase(document.find(member), member.size());
  rig.set_inner_output(exec_credential(R"({"token":"t0ken"})", blackbox::kV1Beta1));
  const Outcome outcome = rig.run(
      {.arguments = {"--api-version=v1beta1"}, .variables = {document}, .has_cluster = false});
  CHECK_SUCCESS(outcome, blackbox::kV1Beta1);
  CHECK(blackbox::json_at(rig.inner_document(), "apiVersion") == blackbox::kV1Beta1);
}

TEST_CASE("inner: it gets execcred-bootstrap's environment unchanged") {
  const Bootstrap rig;
  rig.set_inner("printf '%s|%s|%s' \"$EXECCRED_AUDIENCE\" \"$EXECCRED_VIA\" \"$FOREIGN\" > '" +
                rig.sandbox.at("seen") + "'\n/bin/cat '" + rig.sandbox.at("inner/output") + "'\n");
  CHECK_SUCCESS(rig.run(
      {.variables = {"EXECCRED_AUDIENCE=https://kubernetes", "FOREIGN=a b", "EXECCRED_VIA=csr"}}));
  CHECK(blackbox::read_text(rig.sandbox.at("seen")) == "https://kubernetes|csr|a b");
}

TEST_CASE("inner: its exit codes 1, 2, 3 and 70 are passed on, and all others become 1" *
          doctest::description("promise 23")) {
  const Bootstrap rig;
  struct Case {
    std::string script;
    int exit_code;
    std::string_view part;
  };
  for (const Case& c :
       {Case{"exit 1", 1, "ended with exit code 1"}, Case{"exit 2", 2, "ended with exit code 2"},
        Case{"exit 3", 3, "ended with exit code 3"}, Case{"exit 70", 70, "ended with exit code 70"},
        Case{"exit 4", 1, "ended with exit code 4"},
        Case{"exit 127", 1, "ended with exit code 127"}}) {
    CAPTURE(c.script);
    rig.set_inner(c.script);
    CHECK_REFUSAL(rig.run_cold({.arguments = {"--timeout=2s"}}), c.exit_code, c.part);
  }
  check_sent_nothing(rig);
}

TEST_CASE("inner: if a signal ends it, the run exits with 1, and the failure is not remembered") {
  const Bootstrap rig;
  for (const std::string signal : {"9", "15"}) {
    rig.set_inner("kill -" + signal + " $$");
    CHECK_REFUSAL(rig.run_cold({.arguments = {"--timeout=2s"}}), 1,
                  "was ended by signal " + signal);
    check_sent_nothing(rig);
  }
  rig.set_inner("/bin/cat '" + rig.sandbox.at("inner/output") + "'\n");
  CHECK_SUCCESS(rig.run());
}

TEST_CASE("inner: its error line is shown, escaped and shortened") {
  const Bootstrap rig;
  std::string much;
  while (much.size() < 3000) much += "xxx ";
  rig.set_inner(
      "echo 'execcred-x: debug: 0.1 ms: reading' >&2\n"
      "printf 'execcred-x: error: cannot read \\033[1m it: %s\\n' '" +
      much + "' >&2\nprintf '  hint: mount it\\n' >&2\nexit 2");
  const Outcome outcome = rig.run();
  CHECK_REFUSAL(outcome, 2, "ended with exit code 2: execcred-x: cannot read \\x1b[1m it: xxx");
  CHECK(says(outcome, "hint: mount it"));
  CHECK(outcome.error_output.size() < 1500);
  CHECK_FALSE(says(outcome, "debug"));
  rig.set_inner("echo 'no luck' >&2\necho more >&2\nexit 1");
  CHECK_REFUSAL(rig.run(), 1, "ended with exit code 1: no luck");
  CHECK_FALSE(says(rig.run_cold(), "more"));
}

TEST_CASE("inner: its messages on success are shown only with --debug") {
  const Bootstrap rig;
  rig.set_inner("echo 'a warning' >&2\n/bin/cat '" + rig.sandbox.at("inner/output") + "'\n");
  CHECK_SUCCESS(rig.run());
  const Outcome outcome = rig.run_cold({.arguments = {"--debug"}});
  CHECK(outcome.exit_code == 0);
  CHECK(says(outcome, "the inner plugin: a warning"));
}

// Also where its form does not show that it is one.
TEST_CASE("canary: the inner plugin's token is hidden in what it says" *
          doctest::description("promise 16")) {
  const Bootstrap rig;
  const std::string said = "echo 'bad opaque-token-word!' >&2\n";
  const std::string output = "echo '" + exec_credential(R"({"token":"opaque-token-word"})") + "'\n";
  rig.set_inner(output + said + "exit 1");
  CHECK_REFUSAL(rig.run_cold(), 1, "ended with exit code 1: bad (hidden)!");
  rig.set_inner(output + said);
  const Outcome outcome = rig.run_cold({.arguments = {"--debug"}});
  CHECK(outcome.exit_code == 0);
  CHECK(says(outcome, "the inner plugin: bad (hidden)!"));
  CHECK(outcome.error_output.find("token-word") == std::string::npos);
}

TEST_CASE("inner: a program that is missing or cannot be run is a configuration error") {
  if (!blackbox::kSaysWhyNotStarted) {
    MESSAGE(blackbox::skipped_by_spawn());
    return;
  }
  const Bootstrap rig;
  for (const std::string& path : {rig.sandbox.at("nope"), rig.sandbox.write("data", "x", 0644),
                                  rig.sandbox.path().string()}) {
    CAPTURE(path);
    const Outcome outcome =
        rig.run({.arguments = {"--credential=" + command_json({path})}, .has_credential = false});
    CHECK_FAILURE(outcome, 2, "cannot run '" + path + "'");
  }
  check_sent_nothing(rig);
}

TEST_CASE("inner: one that hangs counts as unavailable, and is ended with its child processes") {
  const Bootstrap rig;
  const std::string pid_file = rig.sandbox.at("pid");
  rig.set_inner("/bin/sleep 1000 &\necho $! > '" + pid_file + "'\nwait\n");
  CHECK_REFUSAL(rig.run({.arguments = {"--timeout=2s"}}), 3, "was still running after");
  const pid_t pid = std::stoi(blackbox::read_text(pid_file));
  CHECK(blackbox::wait_until([pid] { return !blackbox::is_running(pid); }));
  check_sent_nothing(rig);
}

TEST_CASE("inner: a plugin that hangs is ended with the processes of its own command") {
  const Bootstrap rig;
  const std::string pid_file = rig.sandbox.at("pid");
  const std::string script =
      rig.sandbox.script("get-token", "/bin/sleep 1000 &\necho $! > '" + pid_file + "'\nwait\n");
  const std::string inner =
      command_json({EXECCRED_BIN "/execcred-oidc-federation", "--flow=pass-through",
                    "--timeout=60s", "--subject-token-command=" + command_json({script})});
  CHECK_REFUSAL(
      rig.run({.arguments = {"--timeout=2s", "--credential=" + inner}, .has_credential = false}), 3,
      "was still running after");
  const pid_t pid = std::stoi(blackbox::read_text(pid_file));
  CHECK(blackbox::wait_until([pid] { return !blackbox::is_running(pid); }));
}

TEST_CASE("canary: --show-config does not show the inner plugin's arguments" *
          doctest::description("promise 16")) {
  const Bootstrap rig;
  const std::string secret = new_secret();
  const Outcome outcome = rig.run(
      {.arguments = {"--show-config",
                     "--credential=" + command_json({rig.inner_path, "--param=key=" + secret})},
       .has_credential = false});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output.find("(set)") != std::string::npos);
  CHECK(outcome.output.find(secret) == std::string::npos);
}

TEST_CASE("inner: output without a usable credential is refused, and nothing is sent") {
  const Bootstrap rig;
  const Identity one = make_identity({.common_name = "one"});
  const Identity other = make_identity({.common_name = "other"});
  const Identity ended = make_identity({.common_name = "ended", .ends = -60});
  for (const Identity* identity : {&one, &other, &ended}) {
    blackbox::remember_secret(identity->key_pem);
  }
  const std::string secret = new_secret();
  const auto token = [&](const std::string& more) {
    return exec_credential(R"({"token":")" + secret + "\"" + more + "}");
  };
  struct Case {
    std::string output;
    std::string_view part;
  };
  for (const Case& c : {
           Case{"", "printed"},
           Case{"garbage", "printed"},
           Case{"{}", "kind"},
           Case{token("") + token(""), "printed"},
           Case{exec_credential(R"({"token":"t0ken"})", blackbox::kV1Beta1), "apiVersion is"},
           Case{token(R"(,"token":"another")"), "printed"},
           Case{R"({"kind":"ExecCredential","kind":"ExecCredential"})", "printed"},
           Case{token(R"(,"expirationTimestamp":")" + timestamp(-60) + "\""), "has passed"},
           Case{token(R"(,"expirationTimestamp":"tomorrow")"), "expirationTimestamp"},
           Case{exec_credential(R"({"token":")" + new_jwt(R"("sub":"a")", -60) + "\"}"), "expired"},
           Case{exec_credential("{}"), "neither a token nor a certificate"},
           Case{exec_credential(R"({"token":"two words"})"), "status.token"},
           Case{pair_status(one, other), "does not belong to the certificate"},
           Case{pair_status(ended, ended), "has expired"},
           Case{exec_credential(R"({"clientCertificateData":"x"})"), "only one of"},
           Case{exec_credential(R"({"clientCertificateData":)" + blackbox::json_string(one.pem) +
                                R"(,"clientKeyData":)" +
                                blackbox::json_string(one.key_pem + other.key_pem) + "}"),
                "several PRIVATE KEY blocks"},
       }) {
    CAPTURE(c.part);
    rig.set_inner_output(c.output);
    const Outcome outcome = rig.run_cold();
    CHECK_FAILURE(outcome, 1, c.part);
    CHECK(says(outcome, "while reading what '" + rig.inner_path + "' printed"));
  }
  rig.set_inner("/usr/bin/head -c 2000000 /dev/zero");
  CHECK_FAILURE(rig.run_cold(), 1, "printed more than 1024 KiB");
  check_sent_nothing(rig);
}

TEST_CASE("inner: a client certificate is presented to the cluster") {
  const Identity client_ca = make_ca("client CA");
  const Bootstrap rig(&client_ca);
  const Identity client = make_identity({.common_name = "bootstrapper", .issuer = &client_ca});
  blackbox::remember_secret(client.key_pem);
  rig.set_inner_output(pair_status(client, client));
  CHECK_SUCCESS(rig.run());
  const Received sent = rig.api.server.last(kTokenPath);
  CHECK(sent.has_certificate);
  CHECK(sent.header("Authorization") == "");
}

TEST_CASE("inner: its failures with 2 and 70 are not remembered, those with 1 and 3 are") {
  const Bootstrap rig;
  const auto runs_of_two = [&rig](const std::string& script) {
    rig.clear_cache();
    rig.set_inner(script);
    const std::size_t before = rig.inner_runs();
    rig.run();
    rig.run();
    return rig.inner_runs() - before;
  };
  CHECK(runs_of_two("exit 2") == 2);
  CHECK(runs_of_two("exit 70") == 2);
  CHECK(runs_of_two("exit 1") == 1);
  CHECK(runs_of_two("exit 3") == 1);
}

TEST_CASE("inner: an execcred plugin checks its own --from-profile boundary") {
  Bootstrap rig;
  const std::string secret = new_secret();
  const std::string path = rig.sandbox.write("token", secret + "\n");
  const std::string plugin = EXECCRED_BIN "/execcred-token-file";
  const auto ask = [&](const Texts& command, const std::string& config = "") {
    return Ask{.arguments = {"--credential=" + command_json(command)},
               .config = config,
               .has_credential = false};
  };
  CHECK_SUCCESS(rig.run(ask({plugin, "--token-file=" + path, "--from-profile"})));
  CHECK(rig.api.server.last(kTokenPath).header("Authorization") == "Bearer " + secret);
  // The inner plugin checks the ClusterProfile's settings.
  const Outcome outcome =
      rig.run(ask({plugin, "--token-file=" + path}, R"({"tokenFile":"/etc/shadow"})"));
  CHECK_REFUSAL(outcome, 2, "execcred-token-file: spec.cluster.config.tokenFile sets --token-file");
  CHECK_REFUSAL(
      rig.run(ask({plugin, "--token-file=" + path, "--from-profile", "--token-file=" + path})), 2,
      "--token-file stands behind --from-profile");
}

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// `execcred get` with foreign programs: one clear result for each kind of behaviour.
#include "build_kind.hpp"
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <csignal>
#include <string>
#include <vector>

using namespace blackbox;

namespace {

pid_t pid_in(const std::string& path) {
  pid_t pid = 0;
  wait_until([&] {
    const std::string text = read_text(path);
    pid = text.ends_with('\n') ? std::stoi(text) : 0;
    return pid != 0;
  });
  return pid;
}

// Whether the process ends soon. If it does not, it is killed, to protect the next test.
bool ends_soon(pid_t pid) {
  const bool has_ended = wait_until(
      [pid] {
        waitpid(pid, nullptr, WNOHANG);
        return !is_running(pid);
      },
      milliseconds(3000));
  if (!has_ended) send_signal(pid, SIGKILL);
  return has_ended;
}

// Ends `execcred get` by the signal as soon as the file has the ID of a process below the plugin,
// and checks that this process ends too.
void check_ends_with_get(const Inventory& inventory, const std::string& pid_file, int signal) {
  Child child(inventory.command("get"));
  const pid_t below = pid_in(pid_file);
  REQUIRE(below > 0);
  child.send(signal);
  const Outcome outcome = child.wait();
  CHECK_MESSAGE(outcome.signal == signal, describe(outcome));
  CHECK(outcome.output == "");
  CHECK(ends_soon(below));
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("a plugin's exit code decides execcred's, and its standard error is shown" *
          doctest::description("promise 23")) {
  struct Case {
    int theirs;
    int ours;
  };
  for (const Case exit :
       {Case{1, 1}, Case{2, 2}, Case{3, 3}, Case{70, 70}, Case{17, 1}, Case{127, 1}}) {
    CAPTURE(exit.theirs);
    const Outcome outcome = get_from_script(
        printing("never-used") + "\necho 'no luck today' >&2\nexit " + std::to_string(exit.theirs));
    CHECK(outcome.exit_code == exit.ours);
    CHECK(outcome.output == "");
    CHECK(outcome.error_output.starts_with("no luck today\nexeccred: error: "));
    CHECK(says(outcome, "exit code " + std::to_string(exit.theirs)));
    CHECK(says(outcome, "fleet/c1"));
    CHECK(says(outcome, "'p'"));
  }
}

TEST_CASE("a plugin's exit code counts even if the signal SIGCHLD of children is ignored" *
          doctest::description("promise 23")) {
  const Sandbox programs;
  const Inventory inventory(
      mapping({mapped("p", programs.script("plugin", printing("never-used") + "\nexit 17"))}),
      profile("c1", {provider("p")}));
  Command command = inventory.command("get");
  command.before_exec = [] { std::signal(SIGCHLD, SIG_IGN); };
  CHECK_FAILURE(run(command), 1, "ended with exit code 17");
}

TEST_CASE("a plugin that was ended by a signal counts as unavailable") {
  for (const std::string name : {"TERM", "KILL", "SEGV"}) {
    CAPTURE(name);
    const Outcome outcome = get_from_script(printing("never-used") + "\nkill -" + name + " $$");
    CHECK_FAILURE(outcome, 3, "was ended by signal");
    CHECK(says(outcome, "signal"));
  }
}

TEST_CASE("an answer that is no complete ExecCredential of the requested version is refused") {
  const std::string head =
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1")";
  struct Case {
    std::string answer;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {"", "empty"},
      {"token", "JSON"},
      {"Opening your browser...\n" + head + R"(,"status":{"token":"t"}})", "JSON"},
      {head + R"(,"status":{"token":"t"}} done)", "JSON"},
      {head + R"(,"status":{"token":"t"}}{})", "JSON"},
      {head + R"(,"status":{"token":"t")", "JSON"},
      {"[]", "object"},
      {"{}", "kind"},
      {R"({"kind":"ExecCredential","status":{"token":"t"}})", "apiVersion"},
      {R"({"kind":"Secret","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t"}})",
       "kind"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"t"}})",
       "apiVersion"},
      {head + "}", "status"},
      {head + R"(,"status":null})", "status"},
      {head + R"(,"status":"t"})", "status"},
      {head + R"(,"status":{}})", "token"},
      {head + R"(,"status":{"token":""}})", "token"},
      {head + R"(,"status":{"token":5}})", "status.token"},
      {head + R"(,"status":{"token":"a\nb"}})", "status.token"},
      {head + R"(,"status":{"token":"a b"}})", "status.token has a character that no HTTP header"},
      {head + R"(,"status":{"token":"caf\u00e9"}})", "status.token has a character"},
      {head + R"(,"status":{"token":"t","token":"u"}})", "token"},
      {head + R"(,"status":{"clientCertificateData":"c"}})", "clientKeyData"},
      {head + R"(,"status":{"token":"t","clientKeyData":"k"}})", "clientCertificateData"},
      {head + R"(,"status":{"token":"t","expirationTimestamp":"tomorrow"}})",
       "expirationTimestamp"},
      {head + R"(,"status":{"token":"t","expirationTimestamp":""}})", "expirationTimestamp"},
      {head + R"(,"status":{"token":"t","expirationTimestamp":1700000000}})",
       "expirationTimestamp"},
      {head + R"(,"status":{"token":"t","expirationTimestamp":"2020-01-01T00:00:00"}})",
       "expirationTimestamp"},
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.answer);
    const Outcome outcome = get_from_script("cat <<'END'\n" + bad.answer + "\nEND");
    CHECK_FAILURE(outcome, 1, "reading what");
    CHECK_MESSAGE(says(outcome, bad.reason), describe(outcome));
  }
}

TEST_CASE("an answer that has expired is refused") {
  const std::string head =
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1")";
  CHECK_FAILURE(
      get_from_script("cat <<'END'\n" + head +
                      R"(,"status":{"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"}})"
                      "\nEND"),
      1, "status.expirationTimestamp is over");
}

TEST_CASE("a plugin's standard error is shown, also when the plugin succeeds") {
  const Outcome outcome = get_from_script(
      "printf 'asking\\r\\n\\tthe provider\\nno end' >&2\n" + printing("t0ken"), {"-o", "token"});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output == "t0ken\n");
  CHECK(outcome.error_output == "asking\n\tthe provider\nno end\n");
}

TEST_CASE("64 KiB of a plugin's standard error are shown, and its credential or the error, too") {
  constexpr std::size_t kShown = 64 * 1024;
  const std::string note = "execcred: note: of the plugin's messages, 64 KiB are shown\n";
  const Outcome given =
      get_from_script("yes noise | head -c 1000000 >&2\n" + printing("t0ken"), {"-o", "token"});
  CHECK(given.exit_code == 0);
  CHECK(given.output == "t0ken\n");
  CHECK(given.error_output.starts_with("noise\nnoise\n"));
  CHECK(given.error_output.ends_with(note));
  CHECK(given.error_output.size() > kShown / 2);
  CHECK(given.error_output.size() <= kShown + note.size());
  const Outcome failed = get_from_script("yes noise | head -c 1000000 >&2\nexit 1");
  CHECK(failed.exit_code == 1);
  CHECK(failed.output == "");
  const std::size_t error = failed.error_output.find(note + "execcred: error: ");
  CHECK_MESSAGE(error != std::string::npos, failed.error_output.substr(kShown / 2));
  // A byte that is shown as \xNN counts as the four characters that are shown.
  const Outcome raw = get_from_script("head -c 200000 /dev/zero >&2\nexit 1");
  CHECK(raw.error_output.size() < kShown + 4096);
  // A line alone that is longer is cut, and an error that is longer too.
  for (const std::string line : {"", "execcred-x: error: "}) {
    CAPTURE(line);
    const Outcome whole = get_from_script(
        "printf '" + line + "' >&2\nhead -c 70000 /dev/zero | tr '\\0' e >&2\n" + printing("t0ken"),
        {"-o", "token"});
    CHECK(whole.exit_code == 0);
    CHECK(whole.error_output == line + std::string(kShown - 1 - line.size(), 'e') + "\n" + note);
  }
}

TEST_CASE("get does not block if nobody reads the plugin's messages on its standard error") {
  const Sandbox programs;
  const Inventory inventory(
      mapping({mapped("p", programs.script("plugin", "yes noise | head -c 1000000 >&2\n" +
                                                         printing("t0ken")))}),
      profile("c1", {provider("p")}));
  Pipe full;
  full.fill();
  Command command = inventory.command("get", {"-o", "token"});
  command.before_exec = [&full] { replace_descriptor(2, full.write_end()); };
  const Outcome outcome = run(command);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output == "t0ken\n");
}

TEST_CASE("control characters that a plugin prints do not reach the terminal" *
          doctest::description("promise 20")) {
  const Outcome outcome =
      get_from_script(R"(printf 'bad \033[2Jthings\007 \302\233 here\n' >&2; exit 1)");
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.error_output.starts_with(R"(bad \x1b[2Jthings\x07 \xc2\x9b here)"
                                         "\nexeccred: error: "));
  for (const char c : outcome.error_output) {
    CHECK_FALSE(((c >= 0 && c < ' ' && c != '\n') || c == '\x7f' || c == '\x9b'));
  }
}

TEST_CASE("get --debug reports each step, and switches on debug output of execcred's plugins") {
  const Sandbox programs;
  const std::string script =
      "echo \"debug is ${EXECCRED_DEBUG-unset}\" >&2\n" + printing("t0kenCanary");
  const auto get = [&](const std::string& name, std::vector<std::string> arguments,
                       std::vector<std::string> environment = {}) {
    const std::string more = R"(,"args":["--x=SecretArgument"])";
    const Inventory inventory(mapping({mapped("p", programs.script(name, script), more)}),
                              profile("c1", {provider("p")}));
    arguments.insert(arguments.end(), {"-o", "token"});
    return inventory.run("get", std::move(arguments), std::move(environment));
  };
  const std::string of_provider =
      " ms: ClusterProfile fleet/c1, provider 'p' of status.accessProviders[0], for "
      "'https://10.1.2.3:6443'\n";
  for (const Outcome& outcome :
       {get("execcred-x", {"--debug"}), get("execcred-x", {}, {"EXECCRED_DEBUG=1"}),
        get("plugin", {}, {"EXECCRED_DEBUG=1"})}) {
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(outcome.output == "t0kenCanary\n");
    for (const std::string& step : std::vector<std::string>{
             "execcred: debug: ", of_provider,
             "with 1 arguments, no cluster information, for at most 9s\n", "\ndebug is 1\n",
             " ended with exit code 0 after ", "got a bearer token, without an end\n"}) {
      CHECK_MESSAGE(says(outcome, step), (step + describe(outcome)));
    }
    CHECK_FALSE(says(outcome, "t0kenCanary"));
    CHECK_FALSE(says(outcome, "SecretArgument"));
  }
  CHECK(says(get("plugin", {"--debug"}), "\ndebug is unset\n"));
  CHECK(get("execcred-x", {}).error_output == "debug is unset\n");
  CHECK_REFUSAL(get("execcred-x", {}, {"EXECCRED_DEBUG=yes"}), 2,
                "EXECCRED_DEBUG: 'yes' is neither true nor false");
}

TEST_CASE("a huge answer is cut off and refused") {
  const Outcome outcome = get_from_script("exec yes");
  CHECK_FAILURE(outcome, 1, "printed more than 1024 KiB");
  CHECK(says(outcome, "KiB"));
}

TEST_CASE("a plugin that hangs is killed at the timeout, with all processes that it started") {
  const Sandbox programs;
  const std::string pids = programs.at("pid");
  const Inventory inventory(
      mapping(
          {mapped("p", programs.script("plugin", "sleep 1000 &\necho $! > " + pids + "\nwait"))}),
      profile("c1", {provider("p")}));
  const Outcome outcome = inventory.run("get", {"--timeout=500ms"});
  CHECK_FAILURE(outcome, 3, "was still running after");
  CHECK(outcome.elapsed >= milliseconds(500));
  CHECK(outcome.elapsed < blackbox::kNoWait);
  CHECK(ends_soon(pid_in(pids)));
}

TEST_CASE("a descendant that keeps the plugin's descriptors open does not delay the result") {
  const Outcome outcome = get_from_script("sleep 1000 & " + printing("t0ken"), {"-o", "token"});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output == "t0ken\n");
  CHECK(outcome.elapsed < blackbox::kNoWait);
}

TEST_CASE("a plugin ends with the command that runs it, whichever signal ends the command") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGKILL}) {
    CAPTURE(signal);
    const Sandbox programs;
    const std::string pids = programs.at("pid");
    const Inventory inventory(
        mapping(
            {mapped("p", programs.script("plugin", "echo $$ > " + pids + "\nexec sleep 1000"))}),
        profile("c1", {provider("p")}));
    Child child(inventory.command("get"));
    const pid_t plugin = pid_in(pids);
    REQUIRE(plugin > 0);
    child.send(signal);
    const Outcome outcome = child.wait();
    CHECK_MESSAGE((outcome.signal == signal || outcome.exit_code > 0), describe(outcome));
    CHECK(outcome.output == "");
    CHECK(ends_soon(plugin));
  }
}

TEST_CASE("processes that a plugin has started also end if a signal ends the command") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    CAPTURE(signal);
    const Sandbox programs;
    const std::string pids = programs.at("pid");
    const Inventory inventory(
        mapping(
            {mapped("p", programs.script("plugin", "sleep 1000 &\necho $! > " + pids + "\nwait"))}),
        profile("c1", {provider("p")}));
    check_ends_with_get(inventory, pids, signal);
  }
}

TEST_CASE("processes of a command that a plugin runs also end if a signal ends execcred get") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    CAPTURE(signal);
    const Sandbox programs;
    const std::string pids = programs.at("pid");
    const std::string script =
        programs.script("get-token", "sleep 1000 &\necho $! > " + pids + "\nwait");
    const Inventory inventory(
        mapping({mapped("p", EXECCRED_BIN "/execcred-oidc-federation",
                        R"(,"args":["--flow=pass-through","--subject-token-command=[\")" + script +
                            R"(\"]"])")}),
        profile("c1", {provider("p")}));
    check_ends_with_get(inventory, pids, signal);
  }
}

TEST_CASE("--timeout of a command is above 0 and at most a minute, like that of a plugin") {
  for (const std::string timeout : {"0s", "-1s", "61s", "2562047h", "x"}) {
    CAPTURE(timeout);
    CHECK_FAILURE(get_from_script(printing("t"), {"--timeout=" + timeout}), 2, "--timeout");
  }
}

TEST_CASE("a program that cannot be run is a configuration error with the mapping's install hint") {
  if (!kSaysWhyNotStarted) {
    MESSAGE(skipped_by_spawn());
    return;
  }
  const Sandbox sandbox;
  const std::vector<std::string> programs = {
      sandbox.at("missing"),
      sandbox.path().native(),
      sandbox.write("plain", "#!/bin/sh\n"),
      sandbox.write("no-interpreter", "#!/no/such/program\n", 0755),
      sandbox.write("no-program", "just text\n", 0755),
      "/dev/null",
      "/"};
  for (const std::string& path : programs) {
    CAPTURE(path);
    const Inventory inventory(
        mapping({mapped("p", path, R"(,"installHint":"get it from\nsomewhere")")}),
        profile("c1", {provider("p")}));
    const Outcome outcome = inventory.run("get");
    CHECK_FAILURE(outcome, 2, "cannot run");
    CHECK(says(outcome, "'" + path + "'"));
    CHECK(says(outcome, "get it from"));
  }
}

TEST_CASE("the error of an execcred plugin is shown word for word, and only once") {
  const Inventory inventory(
      mapping({mapped("p", kTokenFile, R"(,"args":["--token-file=/no/such/token"])")}),
      profile("c1", {provider("p")}));
  const Outcome outcome = inventory.run("get");
  CHECK_FAILURE(outcome, 2, "execcred-token-file: cannot read '/no/such/token': No such");
  CHECK(says(outcome, "cannot read '/no/such/token': No such file or directory"));
  CHECK(says(outcome, "  hint: mount a projected serviceAccountToken volume there"));
  // Its other output is shown, and also its error if get's own error has another reason.
  const Outcome debugged = inventory.run("get", {"--debug"});
  CHECK(says(debugged, "execcred-token-file: debug: "));
  CHECK_FALSE(says(debugged, "execcred-token-file: error: "));
  const Outcome given = get_from_script("echo 'execcred-x: error: no luck' >&2\n" + printing("t"));
  CHECK(given.exit_code == 0);
  CHECK(given.error_output == "execcred-x: error: no luck\n");
  const Outcome killed = get_from_script("echo 'execcred-x: error: no luck' >&2\nkill -KILL $$");
  CHECK(killed.exit_code == 3);
  CHECK(killed.error_output.starts_with("execcred-x: error: no luck\nexeccred: error: "));
}

TEST_SUITE_END();

// SPDX-License-Identifier: Apache-2.0
// The program: what it gets, how it can end, and what is told of it.
#include "build_kind.hpp"
#include "wrap.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <csignal>

namespace execcred::test {
namespace {

pid_t pid_in(const std::string& path) {
  const std::string text = blackbox::read_text(path);
  return text.empty() ? -1 : std::stoi(text);
}

bool has_ended(const std::string& pid_file) {
  const pid_t pid = pid_in(pid_file);
  return pid > 0 && blackbox::wait_until([pid] { return !blackbox::is_running(pid); });
}

}  // namespace

TEST_CASE("program: it runs in /, with no input, and the caller's umask and limits") {
  const Wrap rig;
  rig.set_program(
      "read -r line && exit 9\n{ pwd; umask; ulimit -c; ls /proc/self/fd; "
      "grep -E 'SigBlk|SigIgn' /proc/self/status; } > '" +
      rig.sandbox.at("seen") + "'\n/bin/cat '" + rig.sandbox.at("output") + "'\n");
  // Otherwise a sanitizer lowers the limit on core files, which the plugin passes on.
  blackbox::Command command =
      rig.command({.variables = {"PATH=/usr/bin:/bin", "ASAN_OPTIONS=disable_coredump=0",
                                 "TSAN_OPTIONS=disable_coredump=0"}});
  command.input = "from the terminal\n";
  command.before_exec = [] {
    umask(027);
    const rlimit core = {.rlim_cur = 4096, .rlim_max = 8192};
    setrlimit(RLIMIT_CORE, &core);
    std::signal(SIGTERM, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
  };
  CHECK_SUCCESS(blackbox::run(command));
  CHECK(blackbox::read_text(rig.sandbox.at("seen")) ==
        "/\n0027\n8\n0\n1\n2\n3\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_CASE("program: it gets the caller's environment, without execcred's variables") {
  const Wrap rig;
  rig.set_program("env | sort > '" + rig.sandbox.at("seen") + "'\n/bin/cat '" +
                  rig.sandbox.at("output") + "'\n");
  const Texts variables = {"PATH=/usr/bin:/bin", "EXECCRED_TIMEOUT=9s", "OPENSSL_CONF=/x",
                           "LD_LIBRARY_PATH=/y", "FOREIGN=a b"};
  const auto seen = [&](const Texts& arguments) {
    CHECK_SUCCESS(rig.run({.arguments = arguments, .variables = variables}));
    return blackbox::read_text(rig.sandbox.at("seen"));
  };
  const std::string without = seen({"--pass-cluster=false"});
  CHECK(without.find("FOREIGN=a b\n") != std::string::npos);
  CHECK(without.find("LD_LIBRARY_PATH=/y\n") != std::string::npos);
  CHECK(without.find("OPENSSL_CONF=/x\n") != std::string::npos);
  CHECK(without.find("EXECCRED_") == std::string::npos);
  CHECK(without.find("KUBERNETES_EXEC_INFO") == std::string::npos);
  CHECK(seen({}).find("KUBERNETES_EXEC_INFO=") != std::string::npos);
}

TEST_CASE("program: the client's document is passed on with exec-credential, or on request") {
  const Wrap rig;
  rig.set_program("printf '%s' \"$KUBERNETES_EXEC_INFO\" > '" + rig.sandbox.at("document") +
                  "'\n/bin/cat '" + rig.sandbox.at("output") + "'\n");
  const auto document_of = [&](const Ask& ask) {
    CHECK(rig.run(ask).exit_code == 0);
    return blackbox::read_text(rig.sandbox.at("document"));
  };
  const Ask with_config = {.config = R"({"n":1e400})", .version = blackbox::kV1Beta1};
  CHECK("KUBERNETES_EXEC_INFO=" + document_of(with_config) ==
        rig.command(with_config).environment.back());
  CHECK(document_of({.has_cluster = false}).empty());
  rig.sandbox.write("output", rig.token);
  CHECK(document_of({.arguments = {"--output=token"}}).empty());
  CHECK_FALSE(document_of({.arguments = {"--output=token", "--pass-cluster"}}).empty());
}

TEST_CASE("program: refused servers and proxies start nothing" *
          doctest::description("promise 5")) {
  const Wrap rig;
  const Texts allow = {"--allow-server=https://other.example.com"};
  CHECK_REFUSAL(rig.run({.arguments = allow}), 1, "matches no --allow-server");
  CHECK_FAILURE(rig.run({.server = "http://spoke-1.example.com"}), 1, "is not https");
  CHECK_FAILURE(rig.run({.arguments = {"--server-ca-file=/etc/ssl/certs/nope.pem"},
                         .more_of_cluster = R"(,"certificate-authority-data":"eA==")"}),
                2, "nope.pem");
  const Ask named = {.arguments = {rig.command_with({"{server.host}"})},
                     .more_of_cluster = R"(,"proxy-url":"http://proxy.example.com")",
                     .has_command = false};
  CHECK_FAILURE(rig.run(named), 1, "proxy-url");
  CHECK(rig.runs() == 0);
}

TEST_CASE("program: each way to end has its exit code, cause and words") {
  const Wrap rig;
  struct Case {
    std::string script;
    int exit_code;
    std::string_view part;
    std::string_view cause;
  };
  const std::string pid = "echo $$ > '" + rig.sandbox.at("pid") + "'\n";
  const std::string child = "echo $! > '" + rig.sandbox.at("child") + "'\n";
  const std::vector<Case> cases = {
      {"exit 1", 1, "ended with exit code 1", "program-failed"},
      {"exit 2", 1, "ended with exit code 2", "program-failed"},
      {"exit 3", 1, "ended with exit code 3", "program-failed"},
      {"exit 70", 1, "ended with exit code 70", "program-failed"},
      {"exit 255", 1, "ended with exit code 255", "program-failed"},
      {"exec sleep 1000", 3, "was still running after", "program-timeout"},
      {"sleep 1000 &\n" + child + "wait", 3, "was still running after", "program-timeout"},
      {"trap '' TERM INT HUP\nwhile :; do sleep 0.1; done", 3, "was still running after",
       "program-timeout"},
      {"exec head -c 1000000000 /dev/zero", 1, "printed more than 128 KiB",
       "program-output-invalid"},
      {"exec >&-\nsleep 1000", 3, "was still running after", "program-timeout"},
      {"exec >&-", 1, "printed", "program-output-invalid"},
      {"exit 0", 1, "printed", "program-output-invalid"},
      {R"(printf '{"kind":"ExecCredential","apiVer')", 1, "printed", "program-output-invalid"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.script);
    rig.set_program(pid + c.script);
    const Outcome outcome =
        rig.run({.arguments = {"--timeout=2s"}, .variables = {"PATH=/usr/bin:/bin"}});
    CHECK_FAILURE(outcome, c.exit_code, c.part);
    CHECK(rig.log_line("cause") == c.cause);
    CHECK(has_ended(rig.sandbox.at("pid")));
    CHECK(outcome.elapsed < blackbox::kNoWait);
  }
  CHECK(has_ended(rig.sandbox.at("child")));
}

TEST_CASE("program: every signal that ends it is a crash, and no failure to remember") {
  const Wrap rig;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE,
                           SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM}) {
    CAPTURE(signal);
    rig.set_program("kill -" + std::to_string(signal) + " $$");
    CHECK_REFUSAL(rig.run({.arguments = {"--cache"}}), 1,
                  "was ended by signal " + std::to_string(signal));
    CHECK(rig.log_line("cause") == "program-crashed");
  }
  CHECK(rig.runs() == 15);
}

TEST_CASE("program: a daemon that it leaves is ended, also one that left its group") {
  const Wrap rig;
  const std::string file = rig.sandbox.at("daemon");
  rig.set_program("setsid sh -c 'echo $$ > \"" + file + "\"; exec sleep 1000' &\n" +
                  "while [ ! -s '" + file + "' ]; do :; done\n/bin/cat '" +
                  rig.sandbox.at("output") + "'\n");
  CHECK_SUCCESS(rig.run({.variables = {"PATH=/usr/bin:/bin"}}));
  CHECK(has_ended(file));
}

TEST_CASE("program: it ends with the run, when a signal ends that") {
  const Wrap rig;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGKILL}) {
    CAPTURE(signal);
    const std::string file = rig.sandbox.at("pid-" + std::to_string(signal));
    const std::string daemon = rig.sandbox.at("daemon-" + std::to_string(signal));
    rig.set_program("setsid sh -c 'echo $$ > \"" + daemon + "\"; exec sleep 1000' &\n" +
                    "while [ ! -s '" + daemon + "' ]; do :; done\necho $$ > '" + file +
                    "'\nexec sleep 1000");
    blackbox::Child child(
        rig.command({.arguments = {"--timeout=60s"}, .variables = {"PATH=/usr/bin:/bin"}}));
    REQUIRE(blackbox::wait_until([&] { return pid_in(file) > 0; }));
    child.send(signal);
    CHECK(child.wait().signal == signal);
    CHECK(has_ended(file));
    if (signal == SIGKILL) {
      blackbox::send_signal(pid_in(daemon), SIGKILL);  // nobody is left to end it
    } else {
      CHECK(has_ended(daemon));
    }
  }
}

TEST_CASE("program: one that cannot be started is a configuration error with its cause") {
  if (!blackbox::kSaysWhyNotStarted) {
    MESSAGE(blackbox::skipped_by_spawn());
    return;
  }
  const Wrap rig;
  struct Case {
    std::string path;
    std::string_view cause;
  };
  const std::string elf = "\177ELF" +
                          std::string("\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf3\0", 16) +
                          std::string(100, '\0');
  const std::vector<Case> cases = {
      {rig.sandbox.at("nope"), "program-missing"},
      {rig.sandbox.write("no-interpreter", "#!/nope/sh\n", 0755), "program-missing"},
      {rig.sandbox.write("data", "x", 0644), "program-not-executable"},
      {rig.sandbox.write("no-mark", "exit 0\n", 0755), "program-not-executable"},
      {rig.sandbox.path().string(), "program-not-executable"},
      {rig.sandbox.write("riscv", elf, 0755), "program-wrong-architecture"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.path);
    const Outcome outcome = rig.run(
        {.arguments = {"--cache", "--command=" + command_json({c.path})}, .has_command = false});
    CHECK_REFUSAL(outcome, 2, "cannot run the program: '" + c.path + "'");
    CHECK(rig.log_line("cause") == c.cause);
  }
}

TEST_CASE("program: exit codes of execcred's plugins are passed on" *
          doctest::description("promise 23")) {
  const Wrap rig;
  struct Codes {
    int ended;
    int expected;
  };
  for (const Codes& codes :
       std::vector<Codes>{{1, 1}, {2, 2}, {3, 3}, {70, 70}, {4, 1}, {127, 1}}) {
    CAPTURE(codes.ended);
    const std::string code = std::to_string(codes.ended);
    const std::string path = rig.sandbox.script("execcred-x", "exit " + code);
    CHECK_REFUSAL(
        rig.run({.arguments = {"--command=" + command_json({path})}, .has_command = false}),
        codes.expected, "ended with exit code " + code);
  }
}

TEST_CASE("program: its last line is quoted, clean and cut") {
  const Wrap rig;
  rig.set_program("echo first >&2\nprintf ' no\\033[1m credentials: %s \\n\\n' '" +
                  std::string(600, '.') + "' >&2\nexit 5");
  const Outcome outcome = rig.run();
  CHECK_REFUSAL(outcome, 1, "ended with exit code 5");
  CHECK(blackbox::says(outcome, "while the program wrote: no\\x1b[1m credentials: ..."));
  CHECK_FALSE(blackbox::says(outcome, "first"));
  CHECK(outcome.error_output.size() < 900);
  CHECK(blackbox::says(rig.run({.arguments = {"--debug"}}), "the program: first"));
}

TEST_CASE("program: the border of a table is not its last line, and what is hidden is one") {
  const Wrap rig;
  struct Line {
    std::string said;
    std::string quoted;
  };
  for (const Line& line : std::vector<Line>{
           {"| no key |\\n+--------------------------------------------------+", "| no key |"},
           {"kein Schlüssel\\n╰──────────╯\\n---", "kein Schlüssel"},
           {"没有凭据\\n====", "没有凭据"},
           {"first\\n7", "7"},
           {"first\\n0123456789abcdef0123456789abcdef", "(hidden)"},
           {"---\\n+++", "+++"}}) {
    CAPTURE(line.said);
    rig.set_program("printf '%b\\n' '" + line.said + "' >&2\nexit 1");
    const Outcome outcome = rig.run();
    CHECK_MESSAGE(blackbox::says(outcome, "the program wrote: " + line.quoted),
                  outcome.error_output);
  }
}

TEST_CASE("canary: what looks like a secret is hidden, in errors, with --debug and in the log" *
          doctest::description("promise 16")) {
  const Wrap rig;
  const std::string jwt = new_jwt(R"("sub":"a")", 600);
  const std::string opaque = new_secret();
  struct Line {
    std::string said;
    std::string shown;
  };
  const std::vector<Line> lines = {
      {"got " + jwt + ".", "got (hidden)"},
      {"Authorization: Bearer short-1", "Authorization: Bearer (hidden)"},
      {"key 0123456789abcdef0123456789abcdef", "key (hidden)"},
      {"key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY=", "key=(hidden)="},
      {"key=/bPxRfiCYEXAMPLEKEY+wJalrXUtnFEMI0K7MDENG==", "key=(hidden)=="},
      {"key=sEcReT/abcdefghijklmnopqrstuvwxyz+ABCDEFGHIJK", "key=(hidden)"},
      {"key v1.abcdefghijklmnopqrstuvwxyzabcdefghijklmn", "key v1.(hidden)"},
      {"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY----- bad", "(hidden) bad"},
      {"sent " + opaque, "sent (hidden)"},
      {"Authorization: Bearer token-x7k2p:short-1", "Authorization: Bearer (hidden)"},
      {"Bearer\\tshort-1 is bad", "Bearer\\x09(hidden) is bad"},
      {"bearer: \"short-1\", bad", "bearer: \"(hidden)\", bad"},
      {"at https://user:short-1@idp.example.com/t", "at https://(hidden)@idp.example.com/t"},
  };
  for (const Line& line : lines) {
    CAPTURE(line.said);
    rig.set_program("printf '%b\\n' '" + line.said + "' >&2\necho '" + opaque + "'\nexit 1");
    for (const Texts& arguments : {Texts(), Texts{"--debug"}}) {
      const Outcome outcome = rig.run({.arguments = arguments});
      CHECK(outcome.exit_code == 1);
      CHECK(blackbox::says(outcome, "the program wrote: " + line.shown));
      CHECK(blackbox::secret_in(outcome.error_output).empty());
    }
    CHECK(blackbox::secret_in(blackbox::read_text(rig.log)).empty());
    CHECK(blackbox::read_text(rig.log).find("short-1") == std::string::npos);
  }
}

// Also where its form does not show that it is one.
TEST_CASE("canary: the program's own token is hidden, whatever it looks like" *
          doctest::description("promise 16")) {
  const Wrap rig;
  const std::string token = "opaque-token-word";
  struct Row {
    Texts arguments;
    std::string output;
    int exit_code;
  };
  for (const Row& row : std::vector<Row>{
           {{}, with_token(token, R"(,"expirationTimestamp":"2020-01-01T00:00:00Z")"), 0},
           {{}, with_token(token), 1},
           {{"--output=json", "--token-field=t"}, R"({"id":"opaque7","t":")" + token + "\"}", 1},
           {{"--output=json", "--token-field=a.t"}, R"({"a":{"t":")" + token + "\"}}", 1},
           {{"--output=token"}, token, 1}}) {
    CAPTURE(row.output);
    rig.set_program("echo '" + row.output + "'\necho 'bad " + token + "!' >&2\nexit " +
                    std::to_string(row.exit_code));
    for (const Texts& more : {Texts(), Texts{"--debug"}}) {
      Texts arguments = row.arguments;
      arguments.insert(arguments.end(), more.begin(), more.end());
      const Outcome outcome = rig.run({.arguments = arguments});
      CHECK(outcome.exit_code == 1);
      CHECK_MESSAGE(blackbox::says(outcome, "the program wrote: bad (hidden)!"),
                    outcome.error_output);
      CHECK(outcome.error_output.find("token-word") == std::string::npos);
    }
    CHECK(blackbox::read_text(rig.log).find("token-word") == std::string::npos);
  }
}

TEST_CASE("canary: a value in the place of a time is not quoted, because it may be the token" *
          doctest::description("promise 16")) {
  const Wrap rig;
  const std::string token = new_secret();
  const Texts swapped = {"--output=json", "--token-field=end", "--expires-field=token"};
  rig.set_output(R"({"token":")" + token + R"(","end":"1795896626"})");
  CHECK_REFUSAL(rig.run({.arguments = swapped}), 1, "a text of " + std::to_string(token.size()));
  rig.set_output(with_token("t", R"(,"expirationTimestamp":")" + token + "\""));
  CHECK_REFUSAL(rig.run(), 1, "is no RFC 3339 time");
  CHECK(blackbox::read_text(rig.log).find(token) == std::string::npos);
  // What has a time's characters alone is shown.
  rig.set_output(R"({"token":"2026-11-28 10:00:00","end":"t"})");
  CHECK_REFUSAL(rig.run({.arguments = swapped}), 1, "'2026-11-28 10:00:00'");
}

TEST_CASE("canary: no part of --command is in an error" * doctest::description("promise 16")) {
  const Wrap rig;
  const std::string secret = new_secret();
  for (const std::string& argument :
       {"{{\"client_secret\":\"" + secret + "\",\"r\":\"{config.r}\"}}",
        "{\"client_secret\":\"" + secret + "\"}", "https://u:" + secret + "@h/{clusterName}",
        "--{config.r}" + secret}) {
    CAPTURE(argument);
    const Outcome outcome =
        rig.run({.arguments = {rig.command_with({argument}), "--allow-config=r=a*"},
                 .config = R"({"r":"b","clusterName":"A_"})",
                 .has_command = false});
    CHECK(outcome.exit_code != 0);
    CHECK_MESSAGE(blackbox::says(outcome, "while expanding argument 1 of --command"),
                  outcome.error_output);
    CHECK(outcome.error_output.find(secret) == std::string::npos);
    CHECK(blackbox::read_text(rig.log).find(secret) == std::string::npos);
  }
}

TEST_CASE("program: of much that it writes, the end is kept, from the beginning of a line") {
  const Wrap rig;
  const std::string key = new_secret();
  rig.set_program("/usr/bin/seq 20000 | /usr/bin/sed 's/^/debug " + key + " /' >&2\necho '" + key +
                  "'\necho 'ERROR: login expired' >&2\nexit 1");
  const Outcome outcome = rig.run();
  CHECK(blackbox::says(outcome, "the program wrote: ERROR: login expired"));
  const Outcome shown = rig.run({.arguments = {"--debug"}});
  CHECK(shown.error_output.size() < 256UL * 1024);
  CHECK(shown.error_output.find(key.substr(key.size() - 8)) == std::string::npos);
}

TEST_CASE("canary: paths and host names are shown") {
  const Wrap rig;
  for (const std::string said :
       {"no /usr/local/lib/python3.11/site-packages/Botocore0123456789/credentials.json",
        "at https://0123456789ABCDEF0123456789ABCDEF.gr7.us-east-1.eks.amazonaws.com",
        "at oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"}) {
    CAPTURE(said);
    rig.set_program("echo '" + said + "' >&2\nexit 1");
    CHECK(blackbox::says(rig.run(), "the program wrote: " + said));
  }
}

TEST_CASE("canary: a token that the program writes to standard error is hidden on success too" *
          doctest::description("promise 16")) {
  const Wrap rig;
  rig.set_program("echo 'token: " + rig.token + "' >&2\n/bin/cat '" + rig.sandbox.at("output") +
                  "'\n");
  CHECK_SUCCESS(rig.run());
  const Outcome outcome = rig.run({.arguments = {"--debug"}});
  CHECK(blackbox::says(outcome, "the program: token: (hidden)"));
  CHECK(blackbox::secret_in(outcome.error_output).empty());
}

TEST_CASE("canary: --show-config does not show the program's arguments, and warns of any server" *
          doctest::description("promise 16")) {
  const Wrap rig;
  const std::string secret = new_secret();
  Ask ask = {.arguments = {"--show-config", rig.command_with({"--key=" + secret})},
             .has_command = false};
  const Outcome open = rig.run(ask);
  CHECK(open.exit_code == 0);
  CHECK(open.output.find("(set)") != std::string::npos);
  CHECK(open.output.find(secret) == std::string::npos);
  CHECK(blackbox::says(open, "execcred-wrap: warning: --allow-server is not set"));
  ask.arguments.emplace_back("--allow-server=https://spoke-1.example.com:6443");
  CHECK(rig.run(ask).error_output.empty());
}

}  // namespace execcred::test

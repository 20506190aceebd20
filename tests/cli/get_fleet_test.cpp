// SPDX-License-Identifier: Apache-2.0
// `execcred get --all`: runs the plugins of all ClusterProfiles, and shows how each run ended.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"

#include <doctest/doctest.h>
#include <execcred/os/signal_block.hpp>

#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <regex>
#include <sstream>
#include <utility>

using namespace blackbox;

namespace {

constexpr const char* kToken = "t0ken-of-the-fleet";

// Two clusters with a credential, one whose plugin fails, one whose provider is not mapped.
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
  // Without --all.
  Outcome get_some(std::vector<std::string> names) const {
    return inventory_.run("get", std::move(names));
  }

 private:
  static constexpr const char* kRefusal =
      "echo 'execcred-bad: error: the issuer refused it' >&2\nexit 1";
  Sandbox programs_;
  Inventory inventory_;
};

// A program whose standard streams are a terminal.
class OnTerminal {
 public:
  explicit OnTerminal(const Command& command) {
    std::vector<char*> arguments;
    for (const std::string& text : command.arguments) {
      arguments.push_back(const_cast<char*>(text.c_str()));
    }
    arguments.push_back(nullptr);
    pid_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      execv(arguments.front(), arguments.data());
      _exit(127);
    }
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() {
    close(terminal_);
    if (pid_ <= 0) return;
    send_signal(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // Reads until the terminal shows the pattern, or until the program has ended.
  bool shows(const std::string& pattern) {
    const std::regex form(pattern);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!std::regex_search(text_, form)) {
      if (std::chrono::steady_clock::now() > end || !read_more()) return false;
    }
    return true;
  }
  // Types the key, as a user of the terminal does.
  void press(char key) const { REQUIRE(write(terminal_, &key, 1) == 1); }
  // Waits for the end of the program, and returns all its output.
  const std::string& wait(int& exit_code) {
    while (read_more()) {
    }
    int status = 0;
    REQUIRE(waitpid(std::exchange(pid_, -1), &status, 0) > 0);
    exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return text_;
  }

 private:
  // False if there is no more output: a read from a terminal without a program fails with EIO.
  bool read_more() {
    pollfd polled = {.fd = terminal_, .events = POLLIN, .revents = 0};
    if (poll(&polled, 1, static_cast<int>(kPatience.count())) != 1) return false;
    std::array<char, 4096> bytes = {};
    const ssize_t size = read(terminal_, bytes.data(), bytes.size());
    if (size > 0) text_.append(bytes.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string text_;
};

// Two clusters: one is done; the program of the other has a child process, and waits for the file
// "go".
class HalfDone {
 public:
  HalfDone()
      : inventory_(
            mapping({mapped("good", programs_.script("good", printing(kToken))),
                     mapped("slow", programs_.script("slow", waiting()))}),
            profile("a", {provider("good")}) + "\n---\n" + profile("b", {provider("slow")})) {
    remember_secret(kToken);
  }
  Command command() const {
    return inventory_.command("get", {"--all", "--timeout=60s", "--color=never"});
  }
  void go() const { programs_.write("go", ""); }
  // The program and its child run.
  bool has_begun() const {
    return wait_until([this] { return pids().size() == 2; });
  }
  std::vector<pid_t> pids() const {
    std::vector<pid_t> pids;
    std::istringstream lines(read_text(programs_.at("pids")));
    for (pid_t pid = 0; lines >> pid;) pids.push_back(pid);
    return pids;
  }

 private:
  std::string waiting() const {
    const std::string at = programs_.path().native();
    return "sleep 1000 &\nprintf '%s\\n%s\\n' $$ $! > " + at + "/pids\nuntil [ -e " + at +
           "/go ]; do :; done\nkill $!\n" + printing(kToken);
  }

  Sandbox programs_;
  Inventory inventory_;
};

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("get --all: a failing cluster does not stop the others, and no token is shown") {
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

TEST_CASE("get --all: no format shows a token, json and yaml have the order of the source") {
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

TEST_CASE("get --all: options choose the clusters, and it is an error to choose none") {
  const Fleet fleet;
  CHECK(fleet.get({"--name=fleet/a"}).exit_code == 0);
  const Outcome of_one = fleet.get({"--provider=good"});
  CHECK_MESSAGE(of_one.exit_code == 0, describe(of_one));
  CHECK(of_one.output.ends_with("\n4 clusters: 2 ok, 0 fail, 2 skipped\n"));
  CHECK_REFUSAL(fleet.get({"--provider=none"}), 2, "provider 'none' is not in the mapping");
  CHECK_REFUSAL(fleet.get({"--name=c"}), 2, "no ClusterProfile with a provider of the mapping");
  CHECK_REFUSAL(fleet.get({"--name=none"}), 2, "holds no ClusterProfile named 'none'");
  CHECK_REFUSAL(fleet.get({"-n", "elsewhere"}), 2, "holds no ClusterProfile");
  CHECK_REFUSAL(fleet.get({"-o", "token"}), 2, "'token' is no output format of --all");
  CHECK_REFUSAL(fleet.get({"--parallel=0"}), 2, "--parallel: '0' is no number from 1 to 256");
}

TEST_CASE("get: --parallel is refused for one cluster, which it would not concern") {
  const Inventory inventory(mapping({mapped("p", "/bin/true")}), profile("a", {provider("p")}));
  CHECK_REFUSAL(inventory.run("get", {"--parallel=3"}), 2, "--parallel is given for one cluster");
}

TEST_CASE("get: several names run like --all, and a name without a ClusterProfile is reported") {
  const Fleet fleet;
  const std::vector<std::string> two = {"--name=fleet/d,a"};
  const Outcome outcome = fleet.get_some(two);
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output.ends_with("\n2 clusters: 2 ok, 0 fail, 0 skipped\n"));
  CHECK(fleet.get_some({"--name=a,b,a", "-oname"}).output == "fleet/b\nfleet/a\n");
  const Outcome missing = fleet.get_some({"--name=a,none", "-oname"});
  CHECK_MESSAGE(missing.exit_code == 1, describe(missing));
  CHECK(says(missing, "holds no ClusterProfile named 'none'"));
  CHECK(missing.output == "fleet/a\n");
  CHECK_REFUSAL(fleet.get_some({"--name=x,y"}), 2, "holds no ClusterProfile named 'x, y'");
  CHECK_REFUSAL(fleet.get_some({"--name=[a,b]"}), 2, "holds no ClusterProfile named '[a,b]'");
  CHECK_REFUSAL(fleet.get_some({"--name=a,b", "-o", "token"}), 2,
                "'token' is no output format of several clusters");
}

TEST_CASE("get: a list of names with an empty part names no ClusterProfile") {
  const Fleet fleet;
  for (const std::string list : {",", "a,", ",a", "a,,b"}) {
    CHECK_REFUSAL(fleet.get_some({"--name=" + list}), 2,
                  "holds no ClusterProfile named '" + list + "'");
  }
}

TEST_CASE("resolve: the time for --name is linear in the number of names") {
  const Inventory inventory(mapping({mapped("p", "/bin/true")}), profile("a", {provider("p")}));
  const auto seconds = [&](int names) {
    std::string list = "a";
    for (int i = 0; i < names; ++i) list += "," + std::to_string(i);
    const auto used = [] {
      rusage usage = {};
      getrusage(RUSAGE_CHILDREN, &usage);
      return static_cast<double>(usage.ru_utime.tv_sec) +
             static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
    };
    const double before = used();
    const Outcome outcome = inventory.run("resolve", {"--name=" + list, "--allow-empty"});
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    return used() - before;
  };
  constexpr int kMany = 20'000;  // one argument may have 128 KiB
  const double few = seconds(kMany / 20);
  const double many = seconds(kMany);
  CAPTURE(few);
  CAPTURE(many);
  CHECK(many < 20 * few + 0.5);
}

TEST_CASE("get --all: a broken document does not stop the others") {
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

TEST_CASE("get --all: a ClusterProfile whose providers cannot be read fails, alone too") {
  const Sandbox programs;
  const std::string good = mapping({mapped("p", programs.script("p", printing(kToken)))});
  for (const std::string entry : {"null", R"({"name":5})"}) {
    CAPTURE(entry);
    const std::string bad = profile("b", {entry});
    const Outcome outcome = Inventory(good, profile("a", {provider("p")}) + "\n---\n" + bad)
                                .run("get", {"--all", "-ojson"});
    CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
    CHECK(json_at(outcome.output, "items.0.result") == "ok");
    CHECK(json_at(outcome.output, "items.1.result") == "fail");
    CHECK(json_at(outcome.output, "items.1.exitCode") == "2");
    CHECK(json_at(outcome.output, "items.1.error").starts_with("status.accessProviders[0]"));
    CHECK(json_at(outcome.output, "items.1.hint").find("must correct it") != std::string::npos);
    const Outcome alone = Inventory(good, bad).run("get", {"--all"});
    CHECK_MESSAGE(alone.exit_code == 1, describe(alone));
    CHECK(alone.output.ends_with("\n1 cluster: 0 ok, 1 fail, 0 skipped\n"));
  }
}

TEST_CASE("get --all: a fault of an entry is one of the ClusterProfiles that choose it") {
  const Sandbox programs;
  const std::string good = mapped("good", programs.script("good", printing(kToken)));
  const std::string profiles = profile("a", {provider("good")}) + "\n---\n" +
                               profile("b", {provider("bad")}) + "\n---\n" +
                               profile("c", {provider("bad"), provider("good")});
  const auto with_exec = [](const std::string& version, const std::string& rest) {
    return R"({"name":"bad","execConfig":{"apiVersion":"client.authentication.k8s.io/)" + version +
           R"(",)" + rest + "}}";
  };
  struct Fault {
    std::string entry;
    std::string field;
  };
  for (const Fault& fault :
       std::vector<Fault>{{with_exec("v1", R"("command":"rel")"), "execConfig.command"},
                          {with_exec("v1", R"("command":"/x","interactiveMode":"Maybe")"),
                           "execConfig.interactiveMode"},
                          {with_exec("v1", R"("command":"/x","args":[1])"), "execConfig.args[0]"},
                          {with_exec("v1alpha1", R"("command":"/x")"), "execConfig.apiVersion"},
                          {R"({"name":"bad"})", "execConfig"}}) {
    CAPTURE(fault.field);
    const Inventory inventory(mapping({good, fault.entry}), profiles);
    const Outcome outcome = inventory.run("get", {"--all", "-ojson"});
    CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
    CHECK(json_at(outcome.output, "items.0.result") == "ok");
    CHECK(json_at(outcome.output, "items.1.exitCode") == "2");
    CHECK(json_at(outcome.output, "items.1.error").starts_with("providers[1]." + fault.field));
    CHECK(json_at(outcome.output, "items.2.provider") == "good");
    CHECK(inventory.run("get", {"--all", "--provider=good"}).exit_code == 0);
    CHECK_FAILURE(inventory.run("get", {"--name=a"}), 2, fault.field);
    CHECK_FAILURE(inventory.run("kubeconfig"), 2, fault.field);
  }
  CHECK_REFUSAL(Inventory("[]", profiles).run("get", {"--all"}), 2, "object");
  const Inventory nameless(mapping({good, "{}"}), profiles);
  CHECK(json_at(nameless.run("get", {"--all", "-ojson"}).output, "items.1.error")
            .starts_with("providers[1].name"));
}

TEST_CASE("get --all: a ClusterProfile that is refused has the error and the exit code of get") {
  const Sandbox programs;
  const std::string unsafe = R"(,"profileSourcedEnvVarsPolicy":"Replace")";
  const Inventory inventory(mapping({mapped("p", programs.script("p", printing(kToken))),
                                     mapped("ours", kTokenFile, "", unsafe)}),
                            profile("http", {provider("p", "http://10.1.2.3")}) + "\n---\n" +
                                profile("unsafe", {provider("ours")}) + "\n---\n" +
                                profile("both", {provider("ours", "http://10.1.2.3")}));
  const std::string all = inventory.run("get", {"--all", "-ojson"}).output;
  CAPTURE(all);
  for (const int number : {0, 1, 2}) {
    const std::string item = "items." + std::to_string(number);
    const Outcome alone = inventory.run("get", {"--name=" + json_at(all, item + ".name")});
    CHECK(json_at(all, item + ".exitCode") == std::to_string(alone.exit_code));
    CHECK(says(alone, json_at(all, item + ".error")));
  }
}

// Each of the three waits until all three run, so that one after the other they would never end.
TEST_CASE("get --all: with --parallel=3, three programs run at a time") {
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

TEST_CASE("get --all: it is no error if the reader of the output is gone") {
  const Fleet fleet;
  Command command = fleet.command({"--provider=good"});
  Pipe gone;
  gone.close_read_end();
  command.before_exec = [&gone] { replace_descriptor(1, gone.write_end()); };
  const Outcome outcome = run(command);
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.error_output == "");
}

TEST_CASE(
    "get --all: a terminal shows the progress of a run that takes long, and then the result") {
  const HalfDone fleet;
  OnTerminal terminal(fleet.command());
  CHECK(terminal.shows(R"(\r\[############\.{12}\] 1/2, 0 failing, \d+:\d\d left\x1b\[K)"));
  fleet.go();
  int exit_code = -1;
  const std::string& text = terminal.wait(exit_code);
  CHECK(exit_code == 0);
  // The bar is removed before the table is there.
  const std::size_t removed = text.rfind("\r\x1b[K");
  REQUIRE(removed != std::string::npos);
  CHECK(text.find("CLUSTER", removed) != std::string::npos);
  CHECK(text.find("1/2") < removed);
  CHECK(text.ends_with("\r\n2 clusters: 2 ok, 0 fail, 0 skipped\r\n"));
  CHECK(text.find(kToken) == std::string::npos);
}

TEST_CASE("get --all: Ctrl-C on a terminal ends it and its programs, and shows the results") {
  const HalfDone fleet;
  OnTerminal terminal(fleet.command());
  REQUIRE(terminal.shows("1/2"));
  REQUIRE(fleet.has_begun());
  constexpr char kControlC = '\x03';
  terminal.press(kControlC);
  int exit_code = -1;
  const std::string& text = terminal.wait(exit_code);
  CHECK(exit_code == 128 + SIGINT);
  CHECK(text.find("fleet/a") != std::string::npos);
  CHECK(text.find("fleet/b") == std::string::npos);
  CHECK(text.find(": 1 ok, 0 fail, 0 skipped\r\n") != std::string::npos);
  for (const pid_t pid : fleet.pids()) CHECK(wait_until([pid] { return !is_running(pid); }));
}

TEST_CASE("get --all: a signal ends it and its programs promptly, and the JSON is complete") {
  for (const int signal : execcred::kEndingSignals) {
    CAPTURE(signal);
    const HalfDone fleet;
    Command command = fleet.command();
    command.arguments.insert(command.arguments.end(), {"-ojson", "--parallel=1"});
    Child child(command);
    REQUIRE(fleet.has_begun());
    child.send(signal);
    const Outcome outcome = child.wait();
    CHECK_MESSAGE(outcome.exit_code == 128 + signal, describe(outcome));
    CHECK(outcome.elapsed < kEventually);
    CHECK(outcome.error_output == "execcred: interrupted: what is known so far follows\n");
    CHECK(json_at(outcome.output, "items.0.name") == "a");
    CHECK(json_at(outcome.output, "items.1") == "(missing)");
    for (const pid_t pid : fleet.pids()) CHECK(wait_until([pid] { return !is_running(pid); }));
  }
}

TEST_CASE("get --all: what a program leaves running in a session of its own ends with it") {
  const Sandbox programs;
  const std::string file = programs.at("daemon");
  const Inventory inventory(
      mapping({mapped("p", programs.script("p", daemon_in(file) + printing(kToken)))}),
      profile("a", {provider("p")}));
  CHECK(inventory.run("get", {"--all"}).exit_code == 0);
  const pid_t pid = std::stoi(read_text(file));
  CHECK(wait_until([pid] { return !is_running(pid); }));
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

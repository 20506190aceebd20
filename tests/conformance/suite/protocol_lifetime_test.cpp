// SPDX-License-Identifier: Apache-2.0
// A plugin ends: by its answer, at its deadline, by a signal, or with its parent.
#include "build_kind.hpp"
#include "client.hpp"
#include "rules.hpp"
#include "sandbox.hpp"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <thread>

using namespace blackbox;

namespace {

// Waits for a document on a standard input that never ends.
Command waiting_plugin(const Pipe& never_ends, const std::string& timeout) {
  Command command = answered_command({"--exec-info=-", "--timeout=" + timeout});
  command.before_exec = [&never_ends] { replace_descriptor(0, never_ends.read_end()); };
  return command;
}

// Whether the plugin is set up and sleeps in the read that never ends.
bool is_waiting(pid_t pid) {
  return wait_until([pid] {
    // SIGALRM (14) has a handler once the deadline is armed.
    const std::string caught = process_status(pid, "SigCgt");
    const bool is_armed = !caught.empty() && (std::stoull(caught, nullptr, 16) & 1U << 13U) != 0;
    return is_armed && process_status(pid, "State").starts_with('S');
  });
}

}  // namespace

TEST_SUITE_BEGIN(kProtocolSuite);

TEST_CASE("the deadline ends a run that waits, with exit code 3 and the step it was at" *
          doctest::description("promises 1, 23") * kOwnRules) {
  const Pipe never_ends;
  const Outcome outcome = run(waiting_plugin(never_ends, "300ms"));
  CHECK_FAILURE(outcome, 3, "timed out");
  CHECK(outcome.error_output.find("timed out after 300ms") != std::string::npos);
  CHECK(outcome.error_output.find("  while ") != std::string::npos);
  CHECK(outcome.error_output.find("  hint: ") != std::string::npos);
  CHECK(outcome.elapsed >= milliseconds(300));
  CHECK(outcome.elapsed < blackbox::kNoWait);
}

TEST_CASE("the deadline is eight seconds where nobody sets it" * kOwnRules) {
  const Pipe never_ends;
  Command command = waiting_plugin(never_ends, "8s");
  command.arguments.pop_back();
  const Outcome outcome = run(command);
  CHECK_FAILURE(outcome, 3, "timed out");
  CHECK(outcome.elapsed >= milliseconds(7900));
  CHECK(outcome.elapsed < blackbox::kConsumersLimit);
}

TEST_CASE("the deadline holds although its signals came blocked and ignored" * kOwnRules) {
  const Pipe never_ends;
  Command command = waiting_plugin(never_ends, "200ms");
  command.before_exec = [&never_ends] {
    replace_descriptor(0, never_ends.read_end());
    for (int signal = 1; signal < SIGRTMIN; ++signal) std::signal(signal, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
  };
  command.patience = milliseconds(6000);
  CHECK_FAILURE(run(command), 3, "timed out");
}

TEST_CASE("a timeout is above 0 and at most a minute" * kOwnRules) {
  for (const std::string timeout : {"60s", "1m", "59.9s", "1000ms", "1.5s"}) {
    CAPTURE(timeout);
    CHECK_SUCCESS(run(answered_command({"--timeout=" + timeout})));
  }
  for (const std::string timeout : {"60001ms", "61s", "1h", "0", "0s", "-1s", "5", "s", "1x", "1 s",
                                    "1e3s", "9999999999999h", "\xb5s", "NaN"}) {
    CAPTURE(timeout);
    CHECK_FAILURE(run(answered_command({"--timeout=" + timeout})), 2, "--timeout");
    CHECK_FAILURE(run(answered_command({}, {"EXECCRED_TIMEOUT=" + timeout})), 2,
                  "EXECCRED_TIMEOUT");
  }
}

TEST_CASE("SIGTERM, SIGINT and SIGHUP end it with nothing on stdout" *
          doctest::description("promise 22") * kOwnRules) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    for (const bool is_held_by_parent : {false, true}) {
      CAPTURE(signal);
      CAPTURE(is_held_by_parent);
      const Pipe never_ends;
      Command command = waiting_plugin(never_ends, "7s");
      command.before_exec = [&never_ends, signal, is_held_by_parent] {
        replace_descriptor(0, never_ends.read_end());
        if (!is_held_by_parent) return;
        // SIGINT and SIGHUP stay ignored if a shell's "&" or nohup ignored them.
        if (signal == SIGTERM) std::signal(signal, SIG_IGN);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, signal);
        sigprocmask(SIG_BLOCK, &set, nullptr);
      };
      Child child(command);
      REQUIRE(is_waiting(child.pid()));
      child.send(signal);
      const Outcome outcome = child.wait();
      CHECK_MESSAGE((outcome.signal == signal || outcome.exit_code > 0), describe(outcome));
      CHECK(outcome.output == "");
      CHECK(outcome.elapsed < blackbox::kNoWait);
    }
  }
}

TEST_CASE("it ends with its parent" * doctest::description("promise 26") * kOwnRules) {
  const Pipe never_ends;
  const Command command = waiting_plugin(never_ends, "30s");
  Pipe told;
  const pid_t parent = fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Child child(command);
    const pid_t pid = child.pid();
    if (write(told.write_end(), &pid, sizeof pid) != sizeof pid) _exit(1);
    for (;;) pause();
  }
  pid_t plugin = 0;
  REQUIRE(read(told.read_end(), &plugin, sizeof plugin) == sizeof plugin);
  REQUIRE(is_waiting(plugin));
  send_signal(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  const bool has_ended =
      wait_until([plugin] { return !is_running(plugin); }, milliseconds(kWithTsan ? 30'000 : 3000));
  CHECK(has_ended);
  MESSAGE("plugins that outlive a killed parent: " << (has_ended ? 0 : 1) << " of 1");
  if (!has_ended) send_signal(plugin, SIGKILL);
  waitpid(plugin, nullptr, 0);
}

TEST_CASE("it outlives the thread that started it" * kOwnRules) {
  const Pipe never_ends;
  const Command command = waiting_plugin(never_ends, "7s");
  std::unique_ptr<Child> child;
  Pipe input;
  Command reading = command;
  reading.before_exec = [&input] { replace_descriptor(0, input.read_end()); };
  bool is_set_up = false;
  std::thread starter([&] {
    child = std::make_unique<Child>(reading);
    is_set_up = is_waiting(child->pid());
  });
  starter.join();
  REQUIRE(is_set_up);
  const std::string document = client_info(kV1Beta1);
  REQUIRE(write(input.write_end(), document.data(), document.size()) > 0);
  input.close_read_end();
  input.close_write_end();
  CHECK_SUCCESS(child->wait(), kV1Beta1);
}

TEST_CASE("sixty-four at once all succeed") {
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 64; ++i) {
    children.push_back(
        std::make_unique<Child>(plugin_command_with(client_info(kV1, "https://10.1.2.3"))));
  }
  for (const std::unique_ptr<Child>& child : children) CHECK_SUCCESS(child->wait());
}

TEST_SUITE_END();

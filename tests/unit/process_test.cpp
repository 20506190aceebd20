// SPDX-License-Identifier: Apache-2.0
#include "comes_true.hpp"
#include "conformance/build_kind.hpp"
#include "conformance/send_signal.hpp"
#include "expect.hpp"
#include "temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/os/file.hpp>
#include <execcred/os/process.hpp>
#include <execcred/os/signal_block.hpp>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <thread>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using test::check_fails;
using test::comes_true;
using test::contains;
using test::kPatience;
using test::TempDir;
using test::write_file;

constexpr auto kConfiguration = Error::Kind::configuration;

Command shell(std::string script, Duration limit = kPatience) {
  return {.path = "/bin/sh",
          .arguments = {"-c", std::move(script)},
          .environment = {"PATH=/usr/bin:/bin"},
          .limit = limit};
}

// A named pipe that processes hold open for writing; shows whether any of them is still running.
class Lifeline {
 public:
  explicit Lifeline(const std::filesystem::path& path) {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    read_end_.reset(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    REQUIRE(read_end_);
  }
  std::string text() {
    is_cut();
    return text_;
  }
  bool is_cut() {
    std::array<char, 256> buffer = {};
    for (;;) {
      const ssize_t count = read(read_end_.get(), buffer.data(), buffer.size());
      if (count <= 0) return count == 0;
      text_.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  FileDescriptor read_end_;
  std::string text_;
};

TEST_CASE("run_command: returns output, error output and exit code") {
  for (const int code : {0, 1, 2, 3, 70, 127, 255}) {
    CAPTURE(code);
    const Result<Finished> finished =
        run_command(shell("printf out; printf err >&2; exit " + std::to_string(code)));
    REQUIRE(finished);
    CHECK(finished->exit_code == code);
    CHECK(finished->signal == 0);
    CHECK(finished->output.reveal() == "out");
    CHECK(finished->error_output == "err");
  }
}

TEST_CASE("run_command: reports the signal that ended the program") {
  for (const int signal : {SIGTERM, SIGKILL, SIGSEGV, SIGPIPE, SIGALRM}) {
    CAPTURE(signal);
    const Result<Finished> finished =
        run_command(shell("ulimit -c 0; kill -" + std::to_string(signal) + " $$"));
    REQUIRE(finished);
    CHECK(finished->signal == signal);
  }
}

TEST_CASE("SignalBlock: holds back each signal that ends a run, but none that is ignored") {
  for (const int signal : kEndingSignals) {
    CAPTURE(signal);
    for (const bool is_ignored : {false, true}) {
      const pid_t child = fork();
      if (child == 0) {
        std::signal(signal, is_ignored ? SIG_IGN : SIG_DFL);
        SignalBlock block(SignalBlock::Signals::ending);
        block.open();
        raise(signal);
        _exit(block.take() == (is_ignored ? 0 : signal) ? 0 : 1);
      }
      int status = 0;
      REQUIRE(waitpid(child, &status, 0) == child);
      CHECK(status == 0);
    }
  }
}

TEST_CASE("run_command: the program gets its arguments and exactly the environment given" *
          doctest::description("promise 32")) {
  Command command{.path = "/usr/bin/env", .environment = {"B=2", "A=1", "C="}, .limit = kPatience};
  Result<Finished> finished = run_command(command);
  REQUIRE(finished);
  CHECK(finished->output.reveal() == "B=2\nA=1\nC=\n");
  command = {.path = "/usr/bin/printf",
             .arguments = {"[%s]", "a b", "", "$HOME", "*"},
             .limit = kPatience};
  finished = run_command(command);
  REQUIRE(finished);
  CHECK(finished->output.reveal() == "[a b][][$HOME][*]");
}

// After this, these system calls fail with ENOSYS, as on a kernel without them.
void forbid(const std::vector<long>& calls) {
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {.len = static_cast<unsigned short>(program.size()),
                             .filter = program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(100);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) _exit(101);
}

TEST_CASE("run_command: no descriptor of the caller's reaches the program" *
          doctest::description("promise 32")) {
  constexpr int kCount = 500;
  for (const std::vector<long>& missing :
       {std::vector<long>{}, {SYS_close_range}, {SYS_close_range, SYS_getdents64}}) {
    CAPTURE(missing.size());
    const pid_t pid = fork();
    if (pid == 0) {
      const int file = open("/", O_RDONLY | O_DIRECTORY);
      for (int i = 0; i < kCount; ++i) {
        if (dup(file) < 0) _exit(99);
      }
      forbid(missing);
      const Result<Finished> finished = run_command(
          shell("i=0; while [ $i -lt 600 ]; do [ ! -e /proc/$$/fd/$i ] || printf \"$i \"; "
                "i=$((i+1)); done"));
      if (!finished) _exit(98);
      _exit(finished->output.reveal() == "0 1 2 " && fcntl(file, F_GETFD) == 0 ? 0 : 97);
    }
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("run_command: standard input is empty, and no signal is blocked or ignored") {
  Result<Finished> finished = run_command(shell("cat; readlink /proc/self/fd/0"));
  REQUIRE(finished);
  CHECK(finished->output.reveal() == "/dev/null\n");

  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before = {};
  REQUIRE(sigaction(SIGPIPE, &ignore, &before) == 0);
  sigset_t block;
  sigset_t former;
  sigemptyset(&block);
  sigaddset(&block, SIGTERM);
  sigprocmask(SIG_BLOCK, &block, &former);
  // Signals 32 and 33 belong to the C library, which ignores them.
  finished = run_command(shell(R"(while read -r name mask; do case $name in
      SigBlk: | SigIgn:) echo $name $((0x$mask & ~0x180000000)) ;; esac; done </proc/self/status)"));
  sigprocmask(SIG_SETMASK, &former, nullptr);
  sigaction(SIGPIPE, &before, nullptr);
  REQUIRE(finished);
  CHECK(finished->output.reveal() == "SigBlk: 0\nSigIgn: 0\n");
}

TEST_CASE("run_command: a program that cannot be started is an error with the reason") {
  if (!blackbox::kSaysWhyNotStarted) {
    MESSAGE(blackbox::skipped_by_spawn());
    return;
  }
  const TempDir dir;
  write_file(dir / "not-executable", "#!/bin/sh\n", 0644);
  write_file(dir / "no-interpreter", "#!/nope/sh\n", 0755);
  struct Case {
    std::filesystem::path path;
    std::string_view message;
  };
  for (const Case& c : std::array<Case, 5>{{{dir / "nope", "No such file"},
                                            {dir / "not-executable", "Permission denied"},
                                            {dir / "no-interpreter", "No such file"},
                                            {dir.path(), "Permission denied"},
                                            {dir / "not-executable/x", "Not a directory"}}}) {
    CAPTURE(c.path.native());
    const Result<Finished> finished = run_command({.path = c.path.native(), .limit = kPatience});
    check_fails(finished, kConfiguration, c.message);
    check_fails(finished, kConfiguration, "'" + c.path.native() + "'");
  }
}

TEST_CASE("run_command: a lack of file descriptors is a temporary error of this machine") {
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 0;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const Result<Finished> finished = run_command(shell("true"));
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  check_fails(finished, Error::Kind::unavailable, "cannot make a pipe: Too many open files");
  CHECK(finished.error().is_local);
}

TEST_CASE("run_command: a variable or argument that is too large is an error with a hint") {
  if (!blackbox::kSaysWhyNotStarted) {
    MESSAGE(blackbox::skipped_by_spawn());
    return;
  }
  Command command = shell("exit 0");
  command.environment.push_back("KUBERNETES_EXEC_INFO=" + std::string(200'000, 'x'));
  check_fails(run_command(command), kConfiguration, "hint: one argument or variable");
  command = shell("exit 0");
  command.arguments.emplace_back(200'000, 'x');
  check_fails(run_command(command), kConfiguration, "hint: one argument or variable");
}

TEST_CASE("run_command: the output limit is exact, error output above its limit is dropped") {
  Command command = shell("head -c 100000 /dev/zero; head -c 100000 /dev/zero >&2; exit 5");
  command.max_output = 100'000;
  command.max_error_output = 1000;
  const Result<Finished> finished = run_command(command);
  REQUIRE(finished);
  CHECK(finished->output.size() == 100'000);
  CHECK(finished->error_output.size() == 1000);
  CHECK(finished->exit_code == 5);
  command.max_output = 99'999;
  check_fails(run_command(command), Error::Kind::no_credential, "printed more than");
}

TEST_CASE(
    "run_command: a report is read up to its limit, and its pipe is the one descriptor above 2") {
  Command command = shell("ls /proc/self/fd | tr '\\n' ' '; echo told >&3; echo more >&3");
  command.max_report = 7;
  Result<Finished> finished = run_command(command);
  REQUIRE(finished);
  CHECK(finished->report == "told\nmo");
  CHECK(finished->output.reveal().starts_with("0 1 2 3 "));
  command.max_report = 0;
  command.arguments.back() = "[ -e /proc/self/fd/3 ] || echo none";
  finished = run_command(command);
  REQUIRE(finished);
  CHECK(finished->report.empty());
  CHECK(finished->output.reveal() == "none\n");
  // A descendant that keeps the pipe does not delay the caller, and one that floods it neither.
  command.max_report = 100;
  command.arguments.back() = "sleep 60 >&- 2>&- & (while :; do echo flood >&3; done) & echo done";
  const auto start = steady_clock::now();
  finished = run_command(command);
  REQUIRE(finished);
  CHECK(finished->report.size() <= 100);
  CHECK(steady_clock::now() - start < kPatience / 2);
}

TEST_CASE("run_command: a program with endless output is stopped at the output limit") {
  const TempDir dir;
  Lifeline lifeline(dir / "alive");
  check_fails(run_command(shell("exec 3>" + (dir / "alive").native() + "; yes")),
              Error::Kind::no_credential, "printed more than");
  CHECK(comes_true([&] { return lifeline.is_cut(); }));
}

TEST_CASE("run_command: at the deadline the program and its child processes are killed") {
  const TempDir dir;
  Lifeline lifeline(dir / "alive");
  // The limit must leave time to start; how long that takes depends on the machine.
  for (Duration limit = 100ms; limit < kPatience && !contains(lifeline.text(), "up"); limit *= 2) {
    const auto start = steady_clock::now();
    check_fails(run_command(shell("exec 3>" + (dir / "alive").native() +
                                      "; trap '' TERM; (echo up >&3; sleep 1000) & sleep 1000",
                                  limit)),
                Error::Kind::unavailable, "still running after " + format_duration(limit));
    CHECK(steady_clock::now() - start >= limit);
  }
  CHECK(contains(lifeline.text(), "up"));
  CHECK(comes_true([&] { return lifeline.is_cut(); }));
}

TEST_CASE("run_command: a program ends when its caller is killed") {
  const TempDir dir;
  Lifeline lifeline(dir / "alive");
  const Command waiting =
      shell("exec 3>" + (dir / "alive").native() + "; echo up >&3; exec sleep 1000", kPatience);
  const pid_t caller = fork();
  REQUIRE(caller >= 0);
  if (caller == 0) {
    static_cast<void>(run_command(waiting));
    _exit(0);
  }
  const bool is_up = comes_true([&] { return contains(lifeline.text(), "up"); });
  blackbox::send_signal(caller, SIGKILL);
  waitpid(caller, nullptr, 0);
  REQUIRE(is_up);
  CHECK(comes_true([&] { return lifeline.is_cut(); }));
}

TEST_CASE("run_command: the deadline also ends a program that floods its error output") {
  const auto start = steady_clock::now();
  check_fails(run_command(shell("yes >&2 & yes >&2 & yes >&2 & yes >&2", 300ms)),
              Error::Kind::unavailable, "still running");
  CHECK(steady_clock::now() - start < kPatience / 2);
}

TEST_CASE("run_command: a descendant that floods a stream does not delay the caller") {
  const auto start = steady_clock::now();
  const Result<Finished> finished = run_command(shell("yes >&2 & yes >&2 & printf done"));
  REQUIRE(finished);
  CHECK(finished->output.reveal() == "done");
  CHECK(steady_clock::now() - start < kPatience / 2);
}

TEST_CASE("run_command: a detached child that keeps the output open does not delay the caller") {
  const TempDir dir;
  const std::filesystem::path hold = dir / "hold";
  const std::filesystem::path ready = dir / "ready";
  REQUIRE(mkfifo(hold.c_str(), 0600) == 0);
  REQUIRE(mkfifo(ready.c_str(), 0600) == 0);
  const auto start = steady_clock::now();
  const Result<Finished> finished =
      run_command(shell("setsid sh -c 'echo up >" + ready.native() + "; exec cat " + hold.native() +
                        "' & read line <" + ready.native() + "; printf done"));
  REQUIRE(finished);
  CHECK(finished->output.reveal() == "done");
  CHECK(steady_clock::now() - start < kPatience / 2);
  // The child waits for a writer. This writer opens and closes the pipe, so the child ends.
  FileDescriptor writer;
  CHECK(comes_true([&] {
    writer.reset(open(hold.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    return static_cast<bool>(writer);
  }));
}

TEST_CASE("run_command: waits for the end of a program that closes its streams") {
  const Result<Finished> finished =
      run_command(shell("exec >&- 2>&-; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; exit 9"));
  REQUIRE(finished);
  CHECK(finished->exit_code == 9);
}

TEST_CASE("run_command: the longest limit works, and so do a zero and a negative one") {
  const Result<Finished> finished = run_command(shell("printf done", Duration::max()));
  REQUIRE(finished);
  CHECK(finished->output.reveal() == "done");
  check_fails(run_command(shell("sleep 1000", 0s)), Error::Kind::unavailable,
              "was still running after 0s");
  check_fails(run_command(shell("sleep 1000", -1s)), Error::Kind::unavailable,
              "was still running after -1s");
}

// Runs `check` in a new process, because it changes process-wide state.
bool holds_in_child(const std::function<bool()>& check) {
  const pid_t pid = fork();
  if (pid == 0) _exit(check() ? 0 : 1);
  int status = -1;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("run_command: works for a caller whose standard streams are closed") {
  for (unsigned closed = 0; closed < 8; ++closed) {
    CAPTURE(closed);
    CHECK(holds_in_child([closed] {
      for (int fd = 0; fd < 3; ++fd) {
        if ((closed & (1U << fd)) != 0) close(fd);
      }
      const Result<Finished> finished = run_command(shell("cat; printf out; printf err >&2"));
      return finished && finished->output.reveal() == "out" && finished->error_output == "err";
    }));
  }
}

TEST_CASE("run_command: if the caller ignores SIGCHLD, a failure is not reported as a success") {
  CHECK(holds_in_child([] {
    if (signal(SIGCHLD, SIG_IGN) == SIG_ERR) return false;
    const Result<Finished> finished = run_command(shell("exit 7"));
    return !finished && finished.error().kind == Error::Kind::internal;
  }));
}

// sigaction refuses the signals that the C library reserves. In musl it also takes a lock for
// SIGABRT: if a child was killed while it held the lock, the next child waited for ever.
TEST_CASE("run_command: signals are reset by system calls, not under a lock") {
  CHECK(holds_in_child([] {
    constexpr int kOfLibrary = 33;
    const std::array<unsigned long, 4> ignored = {1};  // the kernel's SIG_IGN
    if (syscall(SYS_rt_sigaction, kOfLibrary, ignored.data(), nullptr, 8) != 0) return false;
    const Result<Finished> finished = run_command(shell("grep SigIgn: /proc/self/status"));
    return finished && finished->output.reveal() == "SigIgn:\t0000000000000000\n";
  }));
}

TEST_CASE("run_command: at the limit, a program that has joined its caller's group is killed too") {
  const auto start = steady_clock::now();
  const Result<Finished> finished = run_command(
      {.path = "/usr/bin/perl",
       .arguments = {"-e",
                     "setpgrp(0, getpgrp(getppid())) or die; $SIG{TERM} = 'IGNORE'; sleep 1000"},
       .environment = {"PATH=/usr/bin:/bin"},
       .limit = 300ms});
  check_fails(finished, Error::Kind::unavailable, "was still running after");
  CHECK(steady_clock::now() - start < kPatience / 2);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("run_command: as the parent of all orphans it reaps those that have ended") {
  CHECK(holds_in_child([] {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    reap_orphans();
    if (!run_command(shell("setsid sleep 0.01 & setsid sleep 0.02 &"))) return false;
    return comes_true([] {
      const Result<Finished> finished = run_command(shell("exit 7"));
      if (!finished || finished->exit_code != 7) return false;
      siginfo_t left = {};
      return waitid(P_ALL, 0, &left, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
    });
  }));
}

TEST_CASE("run_command: leaves no zombie and no descriptor behind" *
          doctest::description("promise 26")) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = descriptors();
  for (int i = 0; i < 5; ++i) {
    REQUIRE(run_command(shell("exit 1")));
    const Result<Finished> missing = run_command({.path = "/nope", .limit = kPatience});
    REQUIRE(missing.has_value() != blackbox::kSaysWhyNotStarted);
    REQUIRE_FALSE(run_command(shell("sleep 1000", 1ms)));
  }
  CHECK(descriptors() == before);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("run_command: many threads at once each get the output of their own program") {
  std::array<std::string, 8> outputs;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    threads.emplace_back([&outputs, i] {
      Result<Finished> finished = run_command(shell("printf " + std::to_string(i)));
      if (finished) outputs[i] = finished->output.reveal();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(outputs[i] == std::to_string(i));
}

}  // namespace
}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include "syscall_stops.hpp"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace blackbox {
namespace {

// Waits for the process to stop; false if it has ended, and its owner must still wait for it.
bool wait_for_stop(pid_t pid, int& signal) {
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WSTOPPED | WNOWAIT) != 0) return false;
  if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) return false;
  int status = 0;
  waitpid(pid, &status, 0);
  signal = WSTOPSIG(status);
  return true;
}

constexpr int kSystemCall = SIGTRAP | 0x80;

// The parent process: starts the program, which waits for `go`, and reports its process ID.
[[noreturn]] void be_parent(Command command, const Pipe& told, const Pipe& go, int output) {
  command.before_exec = [&go, output] {
    replace_descriptor(STDOUT_FILENO, output);
    char byte = 0;
    if (read(go.read_end(), &byte, 1) != 1) _exit(124);
  };
  const Child child(command);
  const pid_t pid = child.pid();
  if (write(told.write_end(), &pid, sizeof pid) != sizeof pid) _exit(1);
  for (;;) pause();
}

// The exit code of the program, 128 + N if signal N ended it, or 200 and more for a failure.
int trace(pid_t pid, const Pipe& go, pid_t parent,
          const std::function<bool(long call, long argument)>& is_moment) {
  const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, pid, nullptr, options) != 0) return 200;
  if (ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) != 0) return 201;
  bool is_lost = false;
  bool has_gone = false;
  for (;;) {
    int status = 0;
    if (waitpid(pid, &status, __WALL) != pid) return 202;
    if (WIFEXITED(status)) return is_lost ? WEXITSTATUS(status) : 203;
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    const int signal = WSTOPSIG(status);
    const bool is_event = status >> 16 != 0;
    if (!has_gone) has_gone = write(go.write_end(), ".", 1) == 1;
    if (signal == kSystemCall && !is_lost) {
      __ptrace_syscall_info info = {};
      ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info);
      is_lost = info.op == PTRACE_SYSCALL_INFO_ENTRY &&
                is_moment(static_cast<long>(info.entry.nr), static_cast<long>(info.entry.args[0]));
      if (is_lost) {
        send_signal(parent, SIGKILL);
        waitpid(parent, nullptr, 0);
      }
    }
    const int passed_on = is_event || signal == kSystemCall ? 0 : signal;
    ptrace(PTRACE_SYSCALL, pid, nullptr, passed_on);
  }
}

}  // namespace

Outcome run_and_lose_parent(const Command& command,
                            const std::function<bool(long call, long argument)>& is_moment) {
  const Pipe told;
  const Pipe go;
  // The tracer becomes the parent of the program when the program loses its parent.
  Command tracer = {.arguments = {"/bin/true"}};
  tracer.before_exec = [&] {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    Command traced = command;
    // LeakSanitizer traces the process itself, which would conflict with this tracer.
    traced.environment.emplace_back("ASAN_OPTIONS=detect_leaks=0");
    const int output = dup(STDOUT_FILENO);
    const pid_t parent = fork();
    if (parent == 0) be_parent(std::move(traced), told, go, output);
    pid_t pid = 0;
    if (read(told.read_end(), &pid, sizeof pid) != sizeof pid) _exit(204);
    const int exit_code = trace(pid, go, parent, is_moment);
    send_signal(parent, SIGKILL);  // it still waits if there was no such moment
    _exit(exit_code);
  };
  return run(tracer);
}

Outcome run_with_stops(Command command, const std::function<void()>& at_stop) {
  const std::function<void()> before_exec = command.before_exec;
  // LeakSanitizer traces the process itself, which would conflict with this tracer.
  command.environment.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  command.before_exec = [before_exec] {
    if (before_exec) before_exec();
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(124);
  };
  Child child(command);
  int signal = 0;
  if (wait_for_stop(child.pid(), signal)) {
    ptrace(PTRACE_SETOPTIONS, child.pid(), nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    signal = SIGTRAP;
    do {
      if (signal == kSystemCall) at_stop();
      const int passed_on = signal == SIGTRAP || signal == kSystemCall ? 0 : signal;
      ptrace(PTRACE_SYSCALL, child.pid(), nullptr, passed_on);
    } while (wait_for_stop(child.pid(), signal));
  }
  return child.wait();
}

}  // namespace blackbox

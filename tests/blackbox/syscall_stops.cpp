// SPDX-License-Identifier: Apache-2.0
#include "syscall_stops.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace blackbox {
namespace {

// Waits for the process to stop; false once it has ended, which its owner still has to collect.
bool wait_for_stop(pid_t pid, int& signal) {
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WSTOPPED | WNOWAIT) != 0) return false;
  if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) return false;
  int status = 0;
  waitpid(pid, &status, 0);
  signal = WSTOPSIG(status);
  return true;
}

}  // namespace

Outcome run_with_stops(Command command, const std::function<void()>& at_stop) {
  constexpr int kSystemCall = SIGTRAP | 0x80;
  const std::function<void()> before_exec = command.before_exec;
  // The leak check of a sanitized build wants to trace the process itself.
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

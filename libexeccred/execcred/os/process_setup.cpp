// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/process_setup.hpp>

#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/signal_block.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <optional>
#include <string>

namespace execcred {
namespace {

constexpr int kInternal = 70;

volatile pid_t parent_at_start = 0;

// What the caller gave this process, for the programs that it runs.
struct CallerLimits {
  mode_t mask;
  rlimit core;
};
std::optional<CallerLimits> caller_limits;

// Prepared in advance, because there is no memory for it when it is needed.
std::array<char, 160> no_memory_text = {};

void on_no_memory() {
  deadline::write_to_stderr(no_memory_text.data());
  _exit(kInternal);
}

// The kernel sends this signal when the *thread* that started this process ends, and a client may
// end a thread of its pool. The run ends only if the parent has ended (this process then has
// another parent).
void on_parent_thread_end(int /*signal*/) {
  if (has_lost_parent()) _exit(kInternal);
}

void set_disposition(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// A deadline ends a process whose reader does not read, and so does a person with SIGQUIT.
sigset_t held_during_output() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
  return set;
}

void set_up_signals() {
  set_disposition(SIGPIPE, SIG_IGN);
  set_disposition(SIGXFSZ, SIG_IGN);
  set_disposition(SIGTERM, SIG_DFL);
  // A process that ignores it cannot find out how a program that it runs has ended.
  set_disposition(SIGCHLD, SIG_DFL);
  set_disposition(SIGUSR1, on_parent_thread_end);
  sigset_t unblocked;
  sigemptyset(&unblocked);
  sigaddset(&unblocked, SIGUSR1);
  for (const int signal : kEndingSignals) sigaddset(&unblocked, signal);
  sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
}

// Makes sure that the descriptor is open, on anything harmless: the number must be in use.
void occupy(int descriptor) {
  if (fcntl(descriptor, F_GETFD) != -1) return;
  int opened = open("/dev/null", O_RDWR);
  if (opened < 0) opened = open("/", O_PATH | O_DIRECTORY);  // an empty chroot
  if (opened < 0) _exit(kInternal);
  // Lower numbers are in use, so `opened` is `descriptor`: no other thread runs yet.
  if (opened != descriptor && dup2(opened, descriptor) < 0) _exit(kInternal);
}

Error cannot_write(const std::string& why) {
  return Error::internal("cannot write to standard output: " + why);
}

}  // namespace

void end_without_memory(std::string_view program) {
  std::snprintf(no_memory_text.data(), no_memory_text.size(), "%.*s: error: out of memory\n",
                static_cast<int>(std::min<std::size_t>(program.size(), 100)), program.data());
  std::set_new_handler(on_no_memory);
}

void restore_caller_limits() {
  if (!caller_limits) return;
  umask(caller_limits->mask);
  setrlimit(RLIMIT_CORE, &caller_limits->core);
}

bool has_lost_parent() { return parent_at_start != 0 && getppid() != parent_at_start; }

void outlive_parent() {
  parent_at_start = 0;
  prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
}

Status set_up_process() {
  occupy(STDIN_FILENO);
  const int flags = fcntl(STDOUT_FILENO, F_GETFL);
  const bool is_closed = flags == -1;
  if (is_closed) occupy(STDOUT_FILENO);
  occupy(STDERR_FILENO);
  set_up_signals();
  CallerLimits limits = {.mask = umask(S_IRWXG | S_IRWXO), .core = {}};
  getrlimit(RLIMIT_CORE, &limits.core);
  caller_limits = limits;
  const rlimit no_core = {.rlim_cur = 0, .rlim_max = limits.core.rlim_max};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  parent_at_start = getppid();
  prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
  // A parent that ended earlier causes no signal, so this is checked here.
  if (has_lost_parent()) _exit(kInternal);
  if (is_closed) return cannot_write("it is closed");
  if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) != 0) {
    return cannot_write("it is not open for writing");
  }
  return {};
}

Status write_to_stdout(std::string_view text) {
  const bool is_whole = TRY(write_while_read(text));
  return is_whole ? Status() : cannot_write("its reader is gone");
}

Result<bool> write_while_read(std::string_view text) {
  const sigset_t held = held_during_output();
  sigprocmask(SIG_BLOCK, &held, nullptr);
  while (!text.empty()) {
    const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {  // a client's non-blocking pipe that is full
      pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (count < 0 && errno == EPIPE) return false;
    if (count < 0) return cannot_write(system_message(errno));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace execcred

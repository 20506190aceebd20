// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "number.hpp"

namespace bench {
namespace {

std::vector<char*> c_strings(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const auto& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

int dev_null() {
  static const int kFd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (kFd < 0) fail("cannot open '/dev/null'");
  return kFd;
}

// posix_spawn, because it shares the parent's memory until the exec. So the parent's size does not
// change the child's figures.
pid_t spawn(const Command& command, Capture capture, int pipe_end) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const bool takes_err = capture == Capture::err;
  posix_spawn_file_actions_adddup2(&actions, dev_null(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, takes_err ? dev_null() : pipe_end, STDOUT_FILENO);
  if (capture != Capture::out_loudly) {
    posix_spawn_file_actions_adddup2(&actions, takes_err ? pipe_end : dev_null(), STDERR_FILENO);
  }
  const auto argv = c_strings(command.argv);
  const auto env = c_strings(command.env);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail("cannot run '" + command.argv[0] + "': " + std::strerror(error));
  return pid;
}

double microseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

[[noreturn]] void exec_traced(const std::vector<char*>& argv, const std::vector<char*>& env) {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(dev_null(), fd);
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) execve(argv[0], argv.data(), env.data());
  _exit(127);
}

}  // namespace

Running start(const Command& command, Capture capture) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(std::string("cannot make a pipe: ") + strerror(errno));
  const pid_t pid = spawn(command, capture, ends[1]);
  close(ends[1]);
  return {.pid = pid, .output = ends[0]};
}

std::string read_to_end(int output) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = read(output, buffer, sizeof buffer);
    if (count > 0) text.append(buffer, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) fail(std::string("cannot read: ") + std::strerror(errno));
    if (count == 0) break;
  }
  close(output);
  return text;
}

Exited wait_for_any() {
  Exited exited;
  while ((exited.pid = waitpid(-1, &exited.wait_status, 0)) < 0) {
    if (errno != EINTR) fail(std::string("cannot wait: ") + std::strerror(errno));
  }
  return exited;
}

Outcome run(const Command& command, Capture capture) {
  Outcome outcome;
  rusage usage{};
  const auto begin = std::chrono::steady_clock::now();
  const Running running = start(command, capture);
  outcome.output = read_to_end(running.output);
  while (wait4(running.pid, &outcome.wait_status, 0, &usage) < 0 && errno == EINTR) {
  }
  const auto end = std::chrono::steady_clock::now();

  outcome.wall_us = std::chrono::duration<double, std::micro>(end - begin).count();
  outcome.cpu_us = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
  outcome.page_faults = usage.ru_minflt + usage.ru_majflt;
  return outcome;
}

std::optional<pid_t> hold_at_exit(const Command& command) {
  const auto argv = c_strings(command.argv);
  const auto env = c_strings(command.env);
  const pid_t pid = fork();
  if (pid < 0) fail(std::string("cannot fork: ") + std::strerror(errno));
  if (pid == 0) exec_traced(argv, env);

  bool is_set_up = false;
  for (int status = 0; waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);) {
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) return pid;
    const int signal = is_set_up ? WSTOPSIG(status) : 0;
    if (!is_set_up) {
      ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
    }
    is_set_up = true;
    ptrace(PTRACE_CONT, pid, nullptr, signal);
  }
  return std::nullopt;
}

void let_exit(pid_t pid) {
  ptrace(PTRACE_CONT, pid, nullptr, 0);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<long> memory_field_kb(pid_t pid, const std::string& file, const std::string& field) {
  std::ifstream fields("/proc/" + std::to_string(pid) + "/" + file);
  for (std::string line; std::getline(fields, line);) {
    if (line.starts_with(field + ":")) return leading_number<long>(line.substr(field.size() + 1));
  }
  return std::nullopt;
}

// Not rusage's ru_maxrss: after a vfork it starts at the size of the parent, which is larger than
// a small static program. So the program is stopped as it exits, and its peak is read from /proc.
std::optional<long> peak_rss_kb(const Command& command) {
  const auto pid = hold_at_exit(command);
  if (!pid) return std::nullopt;
  const auto peak = memory_field_kb(*pid, "status", "VmHWM");
  let_exit(*pid);
  return peak;
}

void drop_from_page_cache(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("cannot open '" + path + "': " + std::strerror(errno));
  fsync(fd);  // pages that are not yet written cannot be dropped
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
}

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return std::string("was killed: ") + strsignal(WTERMSIG(wait_status));
  }
  return "exited with " + std::to_string(WEXITSTATUS(wait_status));
}

void fail(const std::string& message) {
  std::fprintf(stderr, "execcred-bench: error: %s\n", message.c_str());
  std::exit(2);
}

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
#include "processes.hpp"

#include "conformance/order.hpp"
#include "conformance/send_signal.hpp"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <ctime>
#include <stdexcept>

namespace execcred::test {
namespace {

void pause_briefly() {
  const timespec pause = {.tv_sec = 0, .tv_nsec = 2'000'000};
  nanosleep(&pause, nullptr);
}

int exit_code_of(pid_t pid) {
  int status = -1;
  if (waitpid(pid, &status, 0) != pid) throw std::runtime_error("cannot wait for a child");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Runs `body` under ptrace, after a stop by SIGSTOP.
int run_traced(const std::function<void()>& body) {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 1;
  raise(SIGSTOP);
  body();
  return 0;
}

}  // namespace

Tally::Tally(const std::filesystem::path& path)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (!file_) throw std::runtime_error("cannot open " + path.native());
}

void Tally::add() const {
  if (write(file_.get(), "x", 1) != 1) _exit(99);
}

std::size_t Tally::count() const {
  struct stat status = {};
  if (fstat(file_.get(), &status) != 0) throw std::runtime_error("cannot count");
  return static_cast<std::size_t>(status.st_size);
}

bool Tally::wait_for(std::size_t count) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (this->count() < count) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    pause_briefly();
  }
  return true;
}

std::vector<int> run_at_once(int count, const std::function<int(int)>& body) {
  std::array<int, 2> gate = {};
  if (pipe2(gate.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::vector<pid_t> children;
  blackbox::order_threads();
  for (int i = 0; i < count; ++i) {
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("cannot fork");
    if (pid == 0) {
      close(gate[1]);
      char none = 0;
      while (read(gate[0], &none, 1) < 0) {
      }
      _exit(body(i));
    }
    children.push_back(pid);
  }
  close(gate[0]);
  close(gate[1]);
  std::vector<int> codes;
  codes.reserve(children.size());
  for (const pid_t child : children) codes.push_back(exit_code_of(child));
  blackbox::order_threads();
  return codes;
}

bool is_killed_at(int system_call, const std::function<void()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(run_traced(body));
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
    throw std::runtime_error("cannot trace a child");
  }
  ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  // Each call stops twice: before it, and after it.
  for (int stop = 0; stop < system_call; ++stop) {
    ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return false;
  }
  blackbox::send_signal(pid, SIGKILL);
  waitpid(pid, &status, 0);
  return true;
}

}  // namespace execcred::test

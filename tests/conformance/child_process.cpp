// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include "order.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace blackbox {
namespace {

using SteadyClock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

// Above the three standard descriptors, which a test may close in the child.
int move_up(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
  if (moved < 0) fail("fcntl");
  close(descriptor);
  return moved;
}

void close_once(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// The program that runs these tests may have changed signals, which a client does not do.
void restore_signals() {
  for (int signal = 1; signal < SIGRTMIN; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

std::string describe(const Outcome& outcome) {
  std::string text = outcome.was_hanging   ? "hanging, killed"
                     : outcome.signal != 0 ? "signal " + std::to_string(outcome.signal)
                                           : "exit " + std::to_string(outcome.exit_code);
  text += " after " + std::to_string(outcome.elapsed.count()) + " ms";
  text += "\nstdout: " + outcome.output.substr(0, 2000);
  text += "\nstderr: " + outcome.error_output.substr(0, 2000);
  return text;
}

Pipe::Pipe() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  read_end_ = move_up(ends[0]);
  write_end_ = move_up(ends[1]);
}

Pipe::~Pipe() {
  close_read_end();
  close_write_end();
}

void Pipe::close_read_end() { close_once(read_end_); }
void Pipe::close_write_end() { close_once(write_end_); }

void Pipe::fill() {
  const int flags = fcntl(write_end_, F_GETFL);
  fcntl(write_end_, F_SETFL, flags | O_NONBLOCK);
  const std::string block(4096, '.');
  while (write(write_end_, block.data(), block.size()) > 0) continue;
  while (write(write_end_, ".", 1) > 0) continue;
  fcntl(write_end_, F_SETFL, flags);
}

int Pipe::pending() const {
  int count = 0;
  if (ioctl(read_end_, FIONREAD, &count) != 0) fail("ioctl FIONREAD");
  return count;
}

Child::Child(const Command& command) : command_(command), started_(SteadyClock::now()) {
  std::vector<char*> arguments = pointers(command_.arguments);
  std::vector<char*> environment = pointers(command_.environment);
  order_threads();
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    restore_signals();
    if (command_.input) {
      replace_descriptor(STDIN_FILENO, input_.read_end());
    } else {
      open_descriptor(STDIN_FILENO, "/dev/null", O_RDONLY);
    }
    replace_descriptor(STDOUT_FILENO, output_.write_end());
    replace_descriptor(STDERR_FILENO, error_output_.write_end());
    if (command_.before_exec) command_.before_exec();
    execve(arguments[0], arguments.data(), environment.data());
    _exit(126);
  }
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ < 0) fail("pidfd_open");
  fcntl(pidfd_, F_SETFD, FD_CLOEXEC);
  input_.close_read_end();
  output_.close_write_end();
  error_output_.close_write_end();
  if (!command_.input || command_.input->empty()) input_.close_write_end();
  for (const int descriptor : {input_.write_end(), output_.read_end(), error_output_.read_end()}) {
    if (descriptor >= 0) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  }
}

Child::~Child() {
  if (!is_reaped_) {
    send(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(pidfd_);
}

void Child::send(int signal) const { syscall(SYS_pidfd_send_signal, pidfd_, signal, nullptr, 0); }

bool Child::has_ended() {
  if (!is_reaped_) is_reaped_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return is_reaped_;
}

// Writes input and reads output once, for at most `wait`.
void Child::exchange(milliseconds wait) {
  std::array<pollfd, 4> polled = {
      {{.fd = output_.read_end(), .events = POLLIN, .revents = 0},
       {.fd = error_output_.read_end(), .events = POLLIN, .revents = 0},
       {.fd = input_.write_end(), .events = POLLOUT, .revents = 0},
       {.fd = is_reaped_ ? -1 : pidfd_, .events = POLLIN, .revents = 0}}};
  poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
  const auto take = [](Pipe& pipe, std::string& text) {
    std::array<char, 65536> buffer = {};
    while (pipe.read_end() >= 0) {
      const ssize_t count = read(pipe.read_end(), buffer.data(), buffer.size());
      if (count < 0) break;
      if (count == 0) pipe.close_read_end();
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
  };
  take(output_, outcome_.output);
  take(error_output_, outcome_.error_output);
  if (input_.write_end() < 0) return;
  const std::string_view rest = std::string_view(*command_.input).substr(written_);
  const ssize_t count = write(input_.write_end(), rest.data(), rest.size());
  if (count > 0) written_ += static_cast<std::size_t>(count);
  const bool is_lost = count < 0 && errno != EAGAIN;
  if (is_lost || written_ == command_.input->size()) input_.close_write_end();
}

Outcome Child::wait() {
  for (;;) {
    const bool is_over = has_ended();
    const auto used = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - started_);
    outcome_.elapsed = used;
    exchange(is_over ? milliseconds(0)
                     : std::clamp(command_.patience - used, milliseconds(0), milliseconds(1000)));
    if (is_over) break;
    if (used < command_.patience) continue;
    outcome_.was_hanging = true;
    send(SIGKILL);
    waitpid(pid_, &status_, 0);
    is_reaped_ = true;
  }
  if (WIFEXITED(status_) && !outcome_.was_hanging) outcome_.exit_code = WEXITSTATUS(status_);
  if (WIFSIGNALED(status_)) outcome_.signal = WTERMSIG(status_);
  order_threads();
  return outcome_;
}

Outcome run(const Command& command) { return Child(command).wait(); }

bool wait_until(const std::function<bool()>& condition, milliseconds patience) {
  const auto end = SteadyClock::now() + patience;
  while (!condition()) {
    if (SteadyClock::now() > end) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

void replace_descriptor(int descriptor, int source) {
  if (dup2(source, descriptor) < 0) _exit(125);
}

void open_descriptor(int descriptor, const char* path, int flags) {
  const int opened = open(path, flags, 0600);
  if (opened < 0) _exit(125);
  if (opened == descriptor) return;
  replace_descriptor(descriptor, opened);
  close(opened);
}

std::string process_status(pid_t pid, std::string_view field) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field) || line.size() <= field.size() || line[field.size()] != ':') {
      continue;
    }
    const std::size_t start = line.find_first_not_of(" \t", field.size() + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

bool is_running(pid_t pid) {
  const std::string state = process_status(pid, "State");
  return !state.empty() && state.front() != 'Z' && state.front() != 'X';
}

}  // namespace blackbox

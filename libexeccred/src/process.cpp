// SPDX-License-Identifier: Apache-2.0
#include <execcred/file.hpp>
#include <execcred/process.hpp>
#include <execcred/text.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

namespace execcred {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kChunk = 16 * 1024;

Error cannot_start(const Command& command, int error_number) {
  Error error{
      .kind = Error::Kind::configuration,
      .message = "cannot run " + in_quotes(command.path) + ": " + system_message(error_number)};
  if (error_number == E2BIG) {
    error.hint =
        "one argument or variable may have 128 KiB; the cluster's CA data may be too large";
  }
  return error;
}

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{.message = "cannot make a pipe: " + system_message(errno)};
  }
  return Pipe{.read_end = FileDescriptor(ends[0]), .write_end = FileDescriptor(ends[1])};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn's two attribute objects, destroyed together.
class SpawnAttributes {
 public:
  SpawnAttributes(int output, int error_output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, error_output, STDERR_FILENO);
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  int spawn(pid_t& pid, const std::string& path, char* const* argv, char* const* envp) const {
    return posix_spawn(&pid, path.c_str(), &actions_, &attributes_, argv, envp);
  }

 private:
  posix_spawn_file_actions_t actions_ = {};
  posix_spawnattr_t attributes_ = {};
};

// A running child: killed with its group and reaped when its owner gives up.
class Child {
 public:
  explicit Child(pid_t pid)
      : pid_(pid), pidfd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(-pid_, SIGKILL);
    if (!is_reaped_) waitpid(pid_, nullptr, 0);
  }

  // -1 where the kernel or its filter has no pidfd_open; then has_ended() is asked now and then.
  int pidfd() const { return pidfd_.get(); }

  bool has_ended() {
    if (!is_reaped_) is_reaped_ = waitpid(pid_, &status_, WNOHANG) != 0;
    return is_reaped_;
  }
  int status() const { return status_; }

 private:
  pid_t pid_;
  FileDescriptor pidfd_;
  int status_ = 0;
  bool is_reaped_ = false;
};

class Collector {
 public:
  Collector(const Command& command, Child& child, const Pipe& output, const Pipe& error_output)
      : command_(command),
        child_(child),
        polled_{{{.fd = output.read_end.get(), .events = POLLIN, .revents = 0},
                 {.fd = error_output.read_end.get(), .events = POLLIN, .revents = 0},
                 {.fd = child.pidfd(), .events = POLLIN, .revents = 0}}} {
    fcntl(polled_[0].fd, F_SETFL, O_NONBLOCK);
    fcntl(polled_[1].fd, F_SETFL, O_NONBLOCK);
  }

  Status collect(Finished& finished) {
    const auto end = SteadyClock::now() + command_.limit;
    for (;;) {
      const bool has_ended = child_.has_ended();
      TRY(read_output(finished));
      if (has_ended) return {};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - SteadyClock::now());
      if (left.count() <= 0) {
        return Error{.kind = Error::Kind::unavailable,
                     .message = in_quotes(command_.path) + " was still running after " +
                                format_duration(command_.limit)};
      }
      constexpr std::int64_t kWithoutPidfd = 20;
      const auto wait = child_.pidfd() < 0 ? std::min(left.count(), kWithoutPidfd) : left.count();
      poll(polled_.data(), polled_.size(), static_cast<int>(wait));
    }
  }

 private:
  // Whatever is there now; closes nothing, waits for nothing.
  Status read_output(Finished& finished) {
    SecretString buffer;
    char* const data = buffer.reserve(kChunk);
    for (std::size_t i = 0; i < 2; ++i) {
      for (;;) {
        const ssize_t count = polled_[i].fd < 0 ? 0 : read(polled_[i].fd, data, kChunk);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) polled_[i].fd = -1;
        if (count <= 0) break;
        TRY(keep(i == 0, {data, static_cast<std::size_t>(count)}, finished));
      }
    }
    return {};
  }

  Status keep(bool is_output, std::string_view text, Finished& finished) const {
    if (!is_output) {
      const std::size_t room = command_.max_error_output - finished.error_output.size();
      finished.error_output.append(text.substr(0, room));
      return {};
    }
    if (finished.output.size() + text.size() > command_.max_output) {
      return Error{.message = in_quotes(command_.path) + " printed more than " +
                              std::to_string(command_.max_output / 1024) + " KiB"};
    }
    finished.output.append(text);
    return {};
  }

  const Command& command_;
  Child& child_;
  std::array<pollfd, 3> polled_;
};

}  // namespace

Result<Finished> run_command(const Command& command) {
  TRY_ASSIGN(Pipe output, make_pipe());
  TRY_ASSIGN(Pipe error_output, make_pipe());
  std::vector<std::string> arguments = {command.path};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = command.environment;
  const SpawnAttributes attributes(output.write_end.get(), error_output.write_end.get());
  pid_t pid = 0;
  const int problem =
      attributes.spawn(pid, command.path, pointers(arguments).data(), pointers(environment).data());
  if (problem != 0) return cannot_start(command, problem);
  Child child(pid);
  output.write_end.reset();
  error_output.write_end.reset();
  Finished finished;
  TRY(Collector(command, child, output, error_output).collect(finished));
  if (WIFSIGNALED(child.status())) finished.signal = WTERMSIG(child.status());
  if (WIFEXITED(child.status())) finished.exit_code = WEXITSTATUS(child.status());
  return finished;
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/process.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/process_setup.hpp>
#include <execcred/os/signal_block.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>

namespace execcred {
namespace {

// A signal handler can read only globals.
volatile pid_t guarded_group = 0;
volatile sig_atomic_t adopts_orphans = 0;

// set_up_process() requests SIGUSR1 for the end of the parent's thread, which the parent may
// survive.
constexpr auto kGuarded = [] {
  std::array<int, kEndingSignals.size() + 1> signals = {};
  std::copy(kEndingSignals.begin(), kEndingSignals.end(), signals.begin());
  signals.back() = SIGUSR1;
  return signals;
}();
std::array<struct sigaction, kGuarded.size()> former_actions;

bool has_child_ended(pid_t child) {
  siginfo_t end = {};
  return waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         end.si_pid != 0;
}

// Kills the child and its group. A plugin first gets SIGTERM and a moment, so that it can end the
// programs that it runs, which are in groups of their own. Async-signal-safe.
void end_with_group(pid_t leader) {
  constexpr int kMilliseconds = 60;
  kill(-leader, SIGTERM);
  for (int waited = 0; waited < kMilliseconds && !has_child_ended(leader); ++waited)
    poll(nullptr, 0, 1);
  kill(-leader, SIGKILL);
  kill(leader, SIGKILL);  // it may have joined another group
}

// Kills each child of this thread that the kernel lists. Async-signal-safe.
void kill_children() {
  const int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return;
  std::array<char, 4096> text = {};
  const ssize_t size = read(list, text.data(), text.size());
  close(list);
  pid_t child = 0;
  for (ssize_t i = 0; i < size; ++i) {
    const char c = text[static_cast<std::size_t>(i)];
    if (is_digit(c)) {
      child = child * 10 + (c - '0');
    } else {
      if (child > 0) kill(child, SIGKILL);
      child = 0;
    }
  }
}

}  // namespace

bool adopt_orphans() {
  siginfo_t child = {};
  const bool has_children = waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
  return !has_children && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

void end_orphans() {
  constexpr int kMilliseconds = 500;
  for (int waited = 0; waited < kMilliseconds; ++waited) {
    pid_t reaped = 0;
    do reaped = waitpid(-1, nullptr, WNOHANG);
    while (reaped > 0);
    if (reaped < 0) return;  // there is no child
    kill_children();
    poll(nullptr, 0, 1);
  }
}

namespace {

void end_group(int signal) {
  if (signal == SIGUSR1 && !has_lost_parent()) return;
  const int error_number = errno;
  end_with_group(guarded_group);
  if (adopts_orphans != 0) end_orphans();
  errno = error_number;
  for (std::size_t i = 0; i < kGuarded.size(); ++i) {
    if (kGuarded[i] == signal) sigaction(signal, &former_actions[i], nullptr);
  }
  raise(signal);
}

}  // namespace

GroupGuard::GroupGuard(pid_t group) {
  guarded_group = group;
  struct sigaction action = {};
  action.sa_handler = end_group;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kGuarded.size(); ++i) {
    sigaction(kGuarded[i], nullptr, &former_actions[i]);
    if (former_actions[i].sa_handler == SIG_IGN) continue;
    sigaction(kGuarded[i], &action, nullptr);
  }
}

GroupGuard::~GroupGuard() {
  for (std::size_t i = 0; i < kGuarded.size(); ++i) {
    sigaction(kGuarded[i], &former_actions[i], nullptr);
  }
  adopts_orphans = 0;
}

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kChunk = 16 * 1024;
constexpr std::size_t kMostInPipe = 1024 * 1024;  // fs.pipe-max-size

// A lack of processes, memory or descriptors may pass.
bool is_shortage(int error_number) {
  return error_number == EAGAIN || error_number == EINTR || error_number == EMFILE ||
         error_number == ENFILE || error_number == ENOMEM;
}

Error cannot_start(const Command& command, int error_number) {
  Error error{
      .kind = Error::Kind::configuration,
      .message = "cannot run " + in_quotes(command.path) + ": " + system_message(error_number)};
  if (is_shortage(error_number)) {
    error.kind = Error::Kind::unavailable;
    error.is_local = true;
  }
  if (error_number == E2BIG) {
    error.hint =
        "one argument or variable may have 128 KiB; the cluster's CA data may be too large";
  }
  return error;
}

struct Pipe {
  FileDescriptor read_end = {};
  FileDescriptor write_end = {};
};

// The descriptors are never standard ones (0 to 2), which the child assigns to other files.
Result<Pipe> make_pipe() {
  std::array<int, 2> ends = {};
  const auto failed = [] {
    return Error{.kind = Error::Kind::unavailable,
                 .message = "cannot make a pipe: " + system_message(errno),
                 .is_local = true};
  };
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed();
  Pipe pipe{.read_end = FileDescriptor(ends[0]), .write_end = FileDescriptor(ends[1])};
  for (FileDescriptor* end : {&pipe.read_end, &pipe.write_end}) {
    if (end->get() > STDERR_FILENO) continue;
    const int moved = fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) return failed();
    end->reset(moved);
  }
  return pipe;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What the child needs. It is made before the fork, because between vfork and execve the child must
// not allocate.
struct Plan {
  const char* path;
  char* const* arguments;
  char* const* environment;
  const char* directory;  // empty: the caller's
  int output;
  int error_output;
  int report;  // -1: none
  pid_t parent;
  sigset_t no_signals;
};

// Opens an input that is at its end from the start. An empty root has no /dev/null.
int open_empty_input() {
  const int null = open("/dev/null", O_RDONLY);
  if (null >= 0) return null;
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  close(ends[1]);
  return ends[0];
}

// The number of a descriptor's entry in /proc; -1 for "." and "..".
int number_of(std::string_view name) {
  int number = 0;
  for (const char c : name) {
    if (!is_digit(c)) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

// Closes the descriptors that /proc lists. Returns false if there is no /proc. It does not use
// opendir(), which allocates.
bool close_listed_above(int last) {
  const int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  alignas(dirent) std::array<char, 4096> buffer = {};
  long size = 0;
  // The list is ordered by number, so closing one descriptor does not move the others.
  while ((size = syscall(SYS_getdents64, directory, buffer.data(), buffer.size())) > 0) {
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent*>(buffer.data() + at);
      const int descriptor = number_of(static_cast<const char*>(entry->d_name));
      if (descriptor > last && descriptor != directory) close(descriptor);
      at += entry->d_reclen;
    }
  }
  close(directory);
  return size == 0;
}

// Closes all descriptors above `last`. Kernels before 5.9 and some C libraries have no close_range,
// and a seccomp filter may refuse it.
void close_above(int last) {
  if (syscall(SYS_close_range, static_cast<unsigned>(last) + 1, ~0U, 0U) == 0) return;
  if (close_listed_above(last)) return;
  constexpr rlim_t kMost = 1024 * 1024;
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int end = static_cast<int>(std::min(limit.rlim_cur, kMost));
  for (int descriptor = last + 1; descriptor < end; ++descriptor) close(descriptor);
}

// Resets all signals without sigaction(), which takes a lock for SIGABRT in some C libraries. A
// child that is killed with the lock would leave it locked for the parent, whose next child would
// wait for it forever.
void reset_signals() {
  constexpr std::size_t kMaskBytes = 8;
  // The kernel's struct sigaction: handler, flags, restorer and mask are all zero for SIG_DFL.
  const std::array<unsigned long, 4> default_action = {};
  for (int signal = 1; signal < NSIG; ++signal) {
    syscall(SYS_rt_sigaction, signal, default_action.data(), nullptr, kMaskBytes);
  }
}

// Gives the pipe of the report its number in the program, where it is not closed. The other pipes
// have their numbers already, so this one may replace them.
bool pass_report(int report) {
  if (report < 0) return true;
  if (report == kReportDescriptor) return fcntl(report, F_SETFD, 0) == 0;
  return dup2(report, kReportDescriptor) >= 0;
}

// Runs in the child, on memory shared with the parent, so it makes only system calls.
[[noreturn]] void become(const Plan& plan, volatile int& problem) {
  reset_signals();
  setpgid(0, 0);
  // The child must not survive this process.
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  const int input = open_empty_input();
  const bool is_ready = getppid() == plan.parent && input >= 0 && dup2(input, STDIN_FILENO) >= 0 &&
                        dup2(plan.output, STDOUT_FILENO) >= 0 &&
                        dup2(plan.error_output, STDERR_FILENO) >= 0 && pass_report(plan.report);
  // The caller's sockets and files, of which other libraries open some without O_CLOEXEC.
  close_above(plan.report < 0 ? STDERR_FILENO : kReportDescriptor);
  sigprocmask(SIG_SETMASK, &plan.no_signals, nullptr);
  const bool is_there = *plan.directory == '\0' || chdir(plan.directory) == 0;
  restore_caller_limits();
  if (is_ready && is_there) execve(plan.path, plan.arguments, plan.environment);
  problem = errno;
  _exit(127);
}

// Starts the child; returns 0 or an errno value. It replaces posix_spawn, which cannot tie a
// child's life to its parent's. With vfork the cost does not grow with the memory of the process,
// and only this thread waits. Signals must be blocked: a handler that ran in the child would change
// the parent's memory.
int spawn(const Plan& plan, pid_t& pid) {
  volatile int problem = 0;
  const pid_t child = vfork();            // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (child == 0) become(plan, problem);  // NOLINT(clang-analyzer-unix.Vfork): it is fit for it
  if (child < 0) problem = errno;
  if (child > 0 && problem != 0) waitpid(child, nullptr, 0);
  pid = child;
  return problem;
}

// The children that this module waits for, if the process also reaps orphans.
class Family {
 public:
  // Starts the child; returns 0 or an errno value. An orphan is never confused with it, because
  // nothing is reaped meanwhile.
  int start(const Plan& plan, pid_t& pid) {
    if (!reaps_orphans) return spawn(plan, pid);
    const std::lock_guard<std::mutex> lock(mutex_);
    const int problem = spawn(plan, pid);
    if (problem == 0) children_.push_back(pid);
    return problem;
  }

  // Forgets the child, which was reaped, and reaps orphans that have ended.
  void end(pid_t child) {
    if (!reaps_orphans) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    children_.erase(std::remove(children_.begin(), children_.end(), child), children_.end());
    for (;;) {
      siginfo_t ended = {};
      const bool is_any =
          waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0;
      // The thread that waits for a child reaps it, and then calls end() too.
      if (!is_any || is_child(ended.si_pid)) return;
      waitpid(ended.si_pid, nullptr, WNOHANG);
    }
  }

  std::atomic<bool> reaps_orphans = false;

 private:
  bool is_child(pid_t pid) const {
    return std::find(children_.begin(), children_.end(), pid) != children_.end();
  }

  std::mutex mutex_;
  std::vector<pid_t> children_;
};

Family& family() {
  static Family family;
  return family;
}

// A child process. The destructor kills it with its group, and reaps it. It is never reaped
// earlier, so that its pid and the number of its group are not reused.
class Child {
 public:
  explicit Child(pid_t pid)
      : pid_(pid), pidfd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!is_lost_) {
      if (has_ended()) {
        kill(-pid_, SIGKILL);
      } else {
        end_with_group(pid_);
      }
      reap();
    }
    if (adopts_orphans != 0) end_orphans();
    family().end(pid_);
  }

  // -1 if the kernel or a seccomp filter has no pidfd_open; then the caller polls has_ended().
  int pidfd() const { return pidfd_.get(); }

  bool has_ended() {
    if (end_.si_pid == 0 && !is_lost_) {
      is_lost_ = waitid(P_PID, static_cast<id_t>(pid_), &end_, WEXITED | WNOHANG | WNOWAIT) != 0;
    }
    return end_.si_pid != 0 || is_lost_;
  }

  // Stores how it ended. Fails (internal) if other code of this process has reaped it.
  Status read_end(Finished& finished) const {
    if (is_lost_) {
      return Error::internal(
          "cannot tell how the program ended: it was reaped elsewhere",
          "the caller must not ignore SIGCHLD, and must not wait for other children");
    }
    (end_.si_code == CLD_EXITED ? finished.exit_code : finished.signal) = end_.si_status;
    return {};
  }

 private:
  // Waits for a second. A program in an uninterruptible system call, or of another user, may stay.
  void reap() const {
    constexpr int kMilliseconds = 1000;
    for (int waited = 0; waited < kMilliseconds; ++waited) {
      const pid_t reaped = waitpid(pid_, nullptr, WNOHANG);
      if (reaped == pid_ || (reaped < 0 && errno != EINTR)) return;
      poll(nullptr, 0, 1);
    }
  }

  pid_t pid_;
  FileDescriptor pidfd_;
  siginfo_t end_ = {};
  bool is_lost_ = false;
};

// The pipes from the program.
constexpr std::size_t kOutput = 0;
constexpr std::size_t kErrorOutput = 1;
constexpr std::size_t kReport = 2;
constexpr std::size_t kPipes = 3;

class Collector {
 public:
  Collector(const Command& command, Child& child, const std::array<Pipe, kPipes>& pipes)
      : command_(command),
        child_(child),
        polled_{{{.fd = command.stop, .events = POLLIN, .revents = 0},
                 {.fd = child.pidfd(), .events = POLLIN, .revents = 0}}} {
    for (std::size_t i = 0; i < kPipes; ++i) {
      pipe(i) = {.fd = pipes[i].read_end.get(), .events = POLLIN, .revents = 0};
      if (pipe(i).fd >= 0) fcntl(pipe(i).fd, F_SETFL, O_NONBLOCK);
    }
  }

  Status collect(Finished& finished) {
    const auto start = SteadyClock::now();
    for (;;) {
      const bool has_ended = child_.has_ended();
      TRY(read_output(finished));
      if (has_ended) return child_.read_end(finished);
      if ((polled_[0].revents & POLLIN) != 0) {
        return Error{.kind = Error::Kind::unavailable,
                     .message = in_quotes(command_.path) + " was ended before it was done",
                     .is_local = true};
      }
      const Duration elapsed = SteadyClock::now() - start;
      if (elapsed >= command_.limit) {
        return Error::unavailable(
            in_quotes(command_.path) + " was still running after " +
            format_duration(std::chrono::round<std::chrono::milliseconds>(command_.limit)));
      }
      const auto wait = std::min(
          std::chrono::ceil<std::chrono::milliseconds>(command_.limit - elapsed), longest_wait());
      poll(polled_.data(), polled_.size(), static_cast<int>(wait.count()));
    }
  }

 private:
  std::chrono::milliseconds longest_wait() const {
    return child_.pidfd() < 0 ? std::chrono::milliseconds(20) : std::chrono::hours(1);
  }

  // Reads what is available, without waiting, and closes nothing. The amount is limited, because a
  // writer may be as fast as this reader. It is at least the capacity of a pipe.
  Status read_output(Finished& finished) {
    SecretString buffer;
    char* const data = buffer.reserve(kChunk);
    for (std::size_t i = 0; i < kPipes; ++i) {
      for (std::size_t taken = 0; taken < kMostInPipe;) {
        const ssize_t count = pipe(i).fd < 0 ? 0 : read(pipe(i).fd, data, kChunk);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) pipe(i).fd = -1;
        if (count <= 0) break;
        taken += static_cast<std::size_t>(count);
        TRY(keep(i, {data, static_cast<std::size_t>(count)}, finished));
      }
    }
    return {};
  }

  Status keep(std::size_t from, std::string_view text, Finished& finished) const {
    if (from == kReport) {
      finished.report.append(text.substr(0, command_.max_report - finished.report.size()));
      return {};
    }
    if (from == kErrorOutput) {
      if (command_.on_error_output) command_.on_error_output(text);
      const std::size_t room = command_.max_error_output - finished.error_output.size();
      finished.error_output.append(text.substr(0, room));
      return {};
    }
    if (finished.output.size() + text.size() > command_.max_output) {
      return Error::no_credential(in_quotes(command_.path) + " printed more than " +
                                  std::to_string(command_.max_output / 1024) + " KiB");
    }
    finished.output.append(text);
    return {};
  }

  pollfd& pipe(std::size_t i) { return polled_[i + 2]; }

  const Command& command_;
  Child& child_;
  std::array<pollfd, 2 + kPipes> polled_;
};

}  // namespace

void reap_orphans() { family().reaps_orphans = true; }

Result<Finished> run_command(const Command& command) {
  std::array<Pipe, kPipes> pipes = {};
  for (std::size_t i = 0; i < kPipes; ++i) {
    if (i != kReport || command.max_report > 0) pipes[i] = TRY(make_pipe());
  }
  std::vector<std::string> arguments = {command.path};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = command.environment;
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  Plan plan{.path = command.path.c_str(),
            .arguments = argument_pointers.data(),
            .environment = environment_pointers.data(),
            .directory = command.directory.c_str(),
            .output = pipes[kOutput].write_end.get(),
            .error_output = pipes[kErrorOutput].write_end.get(),
            .report = pipes[kReport].write_end.get(),
            .parent = getpid(),
            .no_signals = {}};
  sigemptyset(&plan.no_signals);
  if (command.ends_with_signals) adopts_orphans = adopt_orphans() ? 1 : 0;
  pid_t pid = 0;
  // Signals are blocked until an object exists that ends the child.
  std::optional<SignalBlock> block(SignalBlock::Signals::all);
  const int problem = family().start(plan, pid);
  if (problem != 0) return cannot_start(command, problem);
  std::optional<GroupGuard> guard;  // until the group is gone
  Child child(pid);
  if (command.ends_with_signals) guard.emplace(pid);
  block.reset();
  for (Pipe& pipe : pipes) pipe.write_end.reset();
  Finished finished;
  TRY(Collector(command, child, pipes).collect(finished));
  return finished;
}

}  // namespace execcred

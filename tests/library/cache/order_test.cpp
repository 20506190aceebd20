// SPDX-License-Identifier: Apache-2.0
// Two runs on one key, in every order of their steps in which each is interrupted at most once. A
// step is a system call on the files that they share, or the provider's call.
#include "fixture.hpp"

#include "conformance/send_signal.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <new>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::CacheFixture;

constexpr int kSystemCall = SIGTRAP | 0x80;
constexpr int kInProvider = SIGUSR1;
constexpr int kWaits = SIGUSR2;

// Memory that both runs write to.
struct Shared {
  std::atomic<int> calls = 0;
  std::atomic<int> inside = 0;
  std::atomic<bool> is_together = false;
};

class SharedPlace {
 public:
  SharedPlace()
      : place_(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                    0)) {
    if (place_ == MAP_FAILED) throw std::bad_alloc();
    new (place_) Shared;
  }
  SharedPlace(const SharedPlace&) = delete;
  SharedPlace& operator=(const SharedPlace&) = delete;
  ~SharedPlace() { munmap(place_, sizeof(Shared)); }
  Shared* operator->() const { return static_cast<Shared*>(place_); }
  Shared& operator*() const { return *static_cast<Shared*>(place_); }

 private:
  void* place_;
};

bool is_step(const __ptrace_syscall_info& info) {
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
  switch (info.entry.nr) {
    case SYS_openat:
    case SYS_flock:
    case SYS_renameat:
    case SYS_unlinkat:
      return true;
    case SYS_newfstatat:  // by name, not of an open file
      return (info.entry.args[3] & AT_EMPTY_PATH) == 0;
    default:
      return false;
  }
}

// A process that runs one step at a time.
class Stepped {
 public:
  enum class Event { step, waits, ended };

  template <class Body>
  explicit Stepped(const Body& body) : pid_(fork()) {
    if (pid_ == 0) {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(125);
      raise(SIGSTOP);
      _exit(body());
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  }
  Stepped(const Stepped&) = delete;
  Stepped& operator=(const Stepped&) = delete;
  ~Stepped() { end(); }

  Event go() {
    while (!has_ended()) {
      ptrace(PTRACE_SYSCALL, pid_, nullptr, nullptr);
      int status = 0;
      waitpid(pid_, &status, 0);
      if (!WIFSTOPPED(status)) {
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        continue;
      }
      const int signal = WSTOPSIG(status);
      if (signal == kWaits) return Event::waits;
      if (signal == kInProvider) return Event::step;
      __ptrace_syscall_info info = {};
      if (signal != kSystemCall) continue;
      ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info);
      if (is_step(info)) return Event::step;
    }
    return Event::ended;
  }
  // Runs at most this many steps; false if it waits or ends before.
  bool go(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (go() != Event::step) return false;
    }
    return true;
  }
  void end() {
    if (has_ended()) return;
    blackbox::send_signal(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    code_ = 128 + SIGKILL;
  }
  bool has_ended() const { return code_ >= 0; }
  int code() const { return code_; }

 private:
  pid_t pid_;
  int code_ = -1;
};

struct Scene {
  const char* name;
  std::function<void(CacheFixture&)> prepare;
  std::optional<Error> error = std::nullopt;
};

std::vector<Scene> scenes() {
  return {{"cold", [](CacheFixture&) {}},
          {"failing", [](CacheFixture&) {}, test::down()},
          {"refresh",
           [](CacheFixture& cache) {
             cache.token();
             cache.clock.time += 56min;
           }},
          {"asked for again", [](CacheFixture& cache) {
             cache.token();
             cache.clock.time += 1min;
           }}};
}

int run(CacheFixture& cache, const Scene& scene, Shared& shared) {
  cache.options.pause = [&cache](Duration pause) {
    cache.clock.time += pause;
    raise(kWaits);
  };
  const CredentialCache under_test(cache.options, cache.run);
  const Result<Credential> credential =
      under_test.get(test::sample_key(), [&](CallContext&) -> Result<Issued> {
        const int call = ++shared.calls;
        if (++shared.inside > 1) shared.is_together = true;
        raise(kInProvider);
        --shared.inside;
        if (scene.error) return *scene.error;
        return test::fresh_token("new-" + std::to_string(call), cache.clock.time + 1h);
      });
  if (credential) return credential->token.reveal().empty() ? 1 : 0;
  return scene.error && credential.error().message == scene.error->message ? 0 : 1;
}

// Runs each in turn until it waits. False if both wait for ever.
bool finish(Stepped& first, Stepped& second) {
  constexpr int kMostTurns = 1000;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    Stepped& one = turn % 2 == 0 ? first : second;
    while (one.go() == Stepped::Event::step) {
    }
    if (first.has_ended() && second.has_ended()) return true;
  }
  return false;
}

struct Order {
  int of_first;    // steps, after which the second begins
  int of_second;   // steps, after which the first goes on
  bool is_killed;  // whether the first is killed then
};

struct Seen {
  bool has_first_ended = false;   // before it was interrupted
  bool has_second_ended = false;  // likewise, or it waits
  std::string wrong = {};
};

Seen try_order(const Scene& scene, const Order& order) {
  CacheFixture cache;
  scene.prepare(cache);
  const SharedPlace shared;
  Seen seen;
  {
    const auto body = [&] { return run(cache, scene, *shared); };
    Stepped first(body);
    Stepped second(body);
    seen.has_first_ended = !first.go(order.of_first);
    seen.has_second_ended = !second.go(order.of_second);
    if (order.is_killed) first.end();
    // A killed process is no longer in the call.
    if (order.is_killed) shared->inside = 0;
    if (!finish(first, second)) seen.wrong = "both wait for ever";
    if (!order.is_killed && first.code() != 0) seen.wrong = "the first gets none";
    if (second.code() != 0) seen.wrong = "the second gets none";
  }
  if (shared->is_together) seen.wrong = "two ask at once";
  if (shared->calls > (order.is_killed ? 2 : 1)) seen.wrong = "more calls than one";
  if (cache.has_torn_file()) seen.wrong = "a file is torn";
  cache.clock.time += 15s;
  if (!cache.is_served()) seen.wrong = "the run after them gets none";
  return seen;
}

TEST_CASE("lock: two runs in every order of their steps make one call, or two with a kill" *
          doctest::description("promise 24")) {
  int orders = 0;
  for (const Scene& scene : scenes()) {
    CAPTURE(scene.name);
    for (const bool is_killed : {false, true}) {
      bool has_first_ended = false;
      for (int i = 0; !has_first_ended; ++i) {
        bool has_second_ended = false;
        for (int j = 0; !has_second_ended; ++j) {
          const Seen seen =
              try_order(scene, {.of_first = i, .of_second = j, .is_killed = is_killed});
          CAPTURE(i);
          CAPTURE(j);
          CAPTURE(is_killed);
          CHECK(seen.wrong == "");
          has_first_ended = seen.has_first_ended;
          has_second_ended = seen.has_second_ended;
          ++orders;
        }
      }
    }
  }
  MESSAGE(orders << " orders of two runs' steps: one call in each, and one more for a run killed");
  CHECK(orders > 1000);
}

}  // namespace
}  // namespace execcred

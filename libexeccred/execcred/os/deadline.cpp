// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/deadline.hpp>

#include <execcred/base/error.hpp>

#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <string>

namespace execcred::deadline {
namespace {

constexpr int kUnavailable = 3;

// Read by the signal handler, so: static storage, no locks. The text is complete before the
// timer is armed.
struct Prepared {
  std::array<char, 256> head = {};
  std::size_t head_size = 0;
  std::array<char, 160> hint = {};
  std::size_t hint_size = 0;
  std::atomic<const char*> phase = nullptr;
};
Prepared prepared;
static_assert(std::atomic<const char*>::is_always_lock_free);
std::atomic<bool> waits_for_source = false;
std::atomic<void (*)(const char*)> action_on_timeout = nullptr;
static_assert(std::atomic<void (*)(const char*)>::is_always_lock_free);

class Line {
 public:
  void append(std::string_view text) {
    const std::size_t size = std::min(text.size(), buffer_.size() - size_);
    std::memcpy(buffer_.data() + size_, text.data(), size);
    size_ += size;
  }
  std::string_view text() const { return {buffer_.data(), size_}; }

 private:
  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
};

template <std::size_t capacity>
void prepare(std::string_view text, std::array<char, capacity>& target, std::size_t& size) {
  size = std::min(text.size(), capacity);
  std::memcpy(target.data(), text.data(), size);
}

void on_alarm(int /*signal*/) {
  Line line;
  line.append({prepared.head.data(), prepared.head_size});
  if (const char* phase = prepared.phase.load(std::memory_order_relaxed)) {
    line.append("  while ");
    line.append(phase);
    line.append("\n");
  }
  line.append({prepared.hint.data(), prepared.hint_size});
  write_to_stderr(line.text());
  if (auto* const action = action_on_timeout.load(std::memory_order_acquire)) {
    action(prepared.phase.load(std::memory_order_relaxed));
  }
  _exit(kUnavailable);
}

}  // namespace

void start(std::string_view program, Duration limit, std::string_view hint) {
  prepare(format_error(program, Error::unavailable("timed out after " + format_duration(limit))),
          prepared.head, prepared.head_size);
  prepare("  hint: " + std::string(hint) + "\n", prepared.hint, prepared.hint_size);

  struct sigaction action = {};
  action.sa_handler = on_alarm;
  sigfillset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);

  const auto microseconds =
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::microseconds>(limit).count());
  const itimerval timer = {
      .it_interval = {},
      .it_value = {.tv_sec = microseconds / 1'000'000, .tv_usec = microseconds % 1'000'000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void stop() {
  const itimerval none = {};
  setitimer(ITIMER_REAL, &none, nullptr);
}

void enter_phase(const char* phase) { prepared.phase.store(phase, std::memory_order_relaxed); }

void set_waiting_for_source(bool is_waiting) {
  waits_for_source.store(is_waiting, std::memory_order_relaxed);
}

bool is_waiting_for_source() { return waits_for_source.load(std::memory_order_relaxed); }

void on_timeout(void (*action)(const char* phase)) {
  action_on_timeout.store(action, std::memory_order_release);
}

void write_if_ready(int descriptor, std::string_view text) {
  while (!text.empty()) {
    pollfd ready = {.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int count = poll(&ready, 1, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count != 1 || (ready.revents & POLLOUT) == 0) return;
    const ssize_t written =
        write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_to_stderr(std::string_view text) { write_if_ready(STDERR_FILENO, text); }

}  // namespace execcred::deadline

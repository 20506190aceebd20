// SPDX-License-Identifier: Apache-2.0
#include "run_signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace execcred::sync {
namespace {

// How long a run may take to end: the orchestrator that sent the signal is waiting.
constexpr int kPatience = 4500;  // ms

// Whether `descriptor` can be read from within `limit` ms; -1: no limit.
bool is_readable(int descriptor, int limit) {
  pollfd polled = {.fd = descriptor, .events = POLLIN, .revents = 0};
  return poll(&polled, 1, limit) > 0;
}

}  // namespace

RunSignals::RunSignals(const StopEvent& stop, std::function<void()> on_stop, bool is_endless)
    : stop_(stop), is_endless_(is_endless), end_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  // Without descriptors the signals end the process as they do by default.
  if (!end_) return;
  signals_.emplace(SignalBlock::Signals::ending);
  if (signals_->open() < 0) {
    signals_.reset();
    return;
  }
  thread_ = std::thread([this, action = std::move(on_stop)] { run(action); });
}

RunSignals::~RunSignals() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  while (write(end_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
}

std::optional<int> RunSignals::exit_code() const {
  constexpr int kSignalled = 128;
  const int signal = received_;
  if (signal == 0) return std::nullopt;
  const bool is_usual = signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
  return is_endless_ && is_usual ? 0 : kSignalled + signal;
}

void RunSignals::run(const std::function<void()>& on_stop) {
  std::array<pollfd, 2> polled = {{{.fd = signals_->descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = end_.get(), .events = POLLIN, .revents = 0}}};
  for (;;) {
    poll(polled.data(), polled.size(), -1);
    if (polled[1].revents != 0) return;
    received_ = signals_->take();
    if (received_ != 0) break;
  }
  stop_.request();
  on_stop();
  if (!is_readable(end_.get(), kPatience)) _exit(*exit_code());
}

}  // namespace execcred::sync

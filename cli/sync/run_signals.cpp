// SPDX-License-Identifier: Apache-2.0
#include "run_signals.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
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

RunSignals::RunSignals(const StopEvent& stop, std::function<void()> on_stop, int exit_code)
    : stop_(stop), exit_code_(exit_code), end_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  // Without descriptors the signals end the process as they do by default.
  if (!end_) return;
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, &before_);
  signals_.reset(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
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
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void RunSignals::run(const std::function<void()>& on_stop) {
  std::array<pollfd, 2> polled = {{{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = end_.get(), .events = POLLIN, .revents = 0}}};
  for (;;) {
    poll(polled.data(), polled.size(), -1);
    if (polled[1].revents != 0) return;
    signalfd_siginfo info = {};
    if (read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    received_ = static_cast<int>(info.ssi_signo);
    break;
  }
  stop_.request();
  on_stop();
  if (!is_readable(end_.get(), kPatience)) _exit(exit_code_);
}

}  // namespace execcred::sync

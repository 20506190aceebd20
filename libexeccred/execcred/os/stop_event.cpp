// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/stop_event.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace execcred {

using std::chrono::steady_clock;

Result<StopEvent> StopEvent::make() {
  const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor >= 0) return StopEvent(descriptor);
  return Error{.kind = Error::Kind::unavailable,
               .message = "cannot make an eventfd: " + system_message(errno),
               .is_local = true};
}

StopEvent::StopEvent(StopEvent&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

StopEvent::~StopEvent() {
  if (descriptor_ >= 0) close(descriptor_);
}

void StopEvent::request() const {
  const int saved_errno = errno;  // keeps errno for the code that a signal handler interrupts
  const std::uint64_t one = 1;
  // This can fail only if the counter is full, and then the request has been made already.
  [[maybe_unused]] const ssize_t written = write(descriptor_, &one, sizeof one);
  errno = saved_errno;
}

bool StopEvent::is_requested() const { return wait_until(steady_clock::time_point::min()); }

bool StopEvent::wait_until(steady_clock::time_point time) const {
  pollfd waiting = {.fd = descriptor_, .events = POLLIN, .revents = 0};
  while (true) {
    const auto now = steady_clock::now();
    constexpr std::int64_t kLongest = 60'000;
    const std::int64_t left =
        time <= now ? 0 : std::chrono::ceil<std::chrono::milliseconds>(time - now).count();
    const int ready = poll(&waiting, 1, static_cast<int>(std::min(left, kLongest)));
    if (ready > 0) return true;
    if (left == 0) return false;
  }
}

}  // namespace execcred

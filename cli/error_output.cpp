// SPDX-License-Identifier: Apache-2.0
#include "error_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace execcred::cli {

bool write_to_slow_reader(std::string_view text, std::chrono::milliseconds patience) {
  // A pipe that is writable by poll() takes so many bytes without blocking (PIPE_BUF).
  constexpr std::size_t kAtOnce = 4096;
  while (!text.empty()) {
    pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    const int polled = poll(&ready, 1, static_cast<int>(patience.count()));
    if (polled < 0 && errno == EINTR) continue;
    if (polled != 1 || (ready.revents & POLLOUT) == 0) return false;
    const ssize_t count = write(STDERR_FILENO, text.data(), std::min(text.size(), kAtOnce));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace execcred::cli

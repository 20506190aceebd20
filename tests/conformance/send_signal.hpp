// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdlib>

namespace blackbox {

// Sends it to this process alone. It is a fault of the test if the number is that of a group, or of
// all processes (0, -1; kill(2)).
inline void send_signal(pid_t pid, int signal) {
  if (pid <= 0) std::abort();
  kill(pid, signal);
}

}  // namespace blackbox

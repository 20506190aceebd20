// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <csignal>
#include <stdexcept>
#include <string>

namespace blackbox {

// Sends it to this process alone. Throws if the number is that of a group, or of all processes (0,
// -1; kill(2)).
inline void send_signal(pid_t pid, int signal) {
  if (pid <= 0) throw std::invalid_argument("no process has the number " + std::to_string(pid));
  kill(pid, signal);
}

}  // namespace blackbox

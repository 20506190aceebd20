// SPDX-License-Identifier: Apache-2.0
// What signals do to this process while it runs another program.
#pragma once

#include <csignal>

#include <sys/types.h>

namespace execcred {

// While it lives, this thread gets no signals.
class SignalBlock {
 public:
  SignalBlock();
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;
  ~SignalBlock();

 private:
  sigset_t before_ = {};
};

// While it lives, a signal that ends this process ends the process group first. One at a time, and
// for a process of one thread only: it sets the handlers.
class GroupGuard {
 public:
  explicit GroupGuard(pid_t group);
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  ~GroupGuard();
};

}  // namespace execcred

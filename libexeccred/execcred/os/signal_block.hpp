// SPDX-License-Identifier: Apache-2.0
// Holds signals back while a file is written or a process is started, or until the run itself looks
// whether it is to end.
#pragma once

#include <execcred/os/file.hpp>

#include <array>
#include <csignal>

namespace execcred {

// What ends a run: a person at a terminal, a service manager, a deadline. A run that first ends the
// programs that it runs, or completes a file, does so for each of them. SIGUSR1 is not among them:
// see set_up_process().
inline constexpr std::array<int, 5> kEndingSignals = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGALRM};

// Blocks signals while it lives, in this thread and in those that it starts.
class SignalBlock {
 public:
  enum class Signals {
    ending,  // without those that this process ignores, as under nohup
    all,
  };
  explicit SignalBlock(Signals signals);
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;
  ~SignalBlock();

  // Makes the descriptor, which is readable while one of the signals is pending. -1: there is none.
  int open();
  int descriptor() const { return descriptor_.get(); }
  // Takes a pending signal. 0: there is none, or open() has failed.
  int take() const;
  // The signals stay blocked when this object ends.
  void stay() { stays_ = true; }

 private:
  sigset_t set_ = {};
  sigset_t before_ = {};
  FileDescriptor descriptor_;
  bool stays_ = false;
};

}  // namespace execcred

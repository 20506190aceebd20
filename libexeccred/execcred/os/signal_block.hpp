// SPDX-License-Identifier: Apache-2.0
// Holds signals back while a file is written or a process is started, or until the run itself looks
// whether it is to end.
#pragma once

#include <execcred/os/file.hpp>

#include <csignal>

namespace execcred {

// Blocks signals while it lives, in this thread and in those that it starts.
class SignalBlock {
 public:
  enum class Signals {
    ending,            // SIGINT, SIGTERM and SIGHUP
    ending_and_alarm,  // and SIGALRM, of a deadline
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

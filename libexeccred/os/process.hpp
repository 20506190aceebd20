// SPDX-License-Identifier: Apache-2.0
// Signal handling while this process runs another program.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

// Runs another program for its output, within limits.
//
// The program gets exactly the environment that is given, /dev/null for standard input, default
// signal dispositions, no descriptor of the caller's, and a process group of its own, which is
// killed whole at the deadline. The call waits for its end, and not for the end of its output: a
// descendant that keeps the pipe open does not delay the caller. It does not outlive its caller:
// when the thread that runs it ends for any reason, so does the program. Safe in a process with
// threads.

struct Command {
  std::string path;  // absolute
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  // NAME=VALUE
  Duration limit;
  std::size_t max_output = 1024 * 1024;
  std::size_t max_error_output = 64 * 1024;  // more is read and dropped
  // Gets the kept part of the error output, as it arrives.
  std::function<void(std::string_view)> on_error_output = {};
  // A signal that ends this process (SIGTERM, SIGINT, SIGHUP, a deadline's SIGALRM) first ends the
  // program's whole group. It sets their handlers during the run: for a process of one thread only.
  bool ends_with_signals = false;
  // When this descriptor becomes readable, the program is ended as at the limit; -1: none. For a
  // process of many threads, each of which runs a program.
  int stop = -1;
};

struct Finished {
  int exit_code = 0;  // where signal is 0
  int signal = 0;
  SecretString output;
  std::string error_output;
};

// Fails: configuration (cannot be started), unavailable (still running at the limit),
// no_credential (more output than allowed), internal (its end was reaped elsewhere).
Result<Finished> run_command(const Command& command);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// Runs another program, and handles signals while it runs.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// While it lives, a signal that ends this process first ends the process group. Only one may exist
// at a time, and only in a process of one thread, because it sets the signal handlers.
class GroupGuard {
 public:
  explicit GroupGuard(pid_t group);
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  ~GroupGuard();
};

// From here on, run_command() also reaps the orphans that this process inherits: the first process
// of a container is the parent of all orphans in it. For programs only, because it also reaps the
// children of other code.
void reap_orphans();

// Makes this process the parent of every orphan among its descendants, for end_orphans(). Returns
// false, and does nothing, if it has children already: they may be of the program that became this
// one, and must not be ended.
bool adopt_orphans();
// Kills and reaps all children of this thread, and what it adopts by that, within half a second.
// The first thread of a process is the one that adopts. Async-signal-safe.
void end_orphans();

// Adopts orphans while it lives, if it can, and ends them at its end. For the first thread, around
// the threads that run programs.
class OrphanGuard {
 public:
  OrphanGuard() : adopts_(adopt_orphans()) {}
  OrphanGuard(const OrphanGuard&) = delete;
  OrphanGuard& operator=(const OrphanGuard&) = delete;
  ~OrphanGuard() {
    if (adopts_) end_orphans();
  }

  bool adopts() const { return adopts_; }

 private:
  bool adopts_;
};

// Runs another program for its output, within limits.
//
// The program gets exactly the environment that is given, /dev/null as standard input, default
// signal dispositions, none of the caller's descriptors, the umask and limits with which the caller
// was started, and a process group of its own. At the
// deadline the group gets SIGTERM. It gets SIGKILL when the program has ended, or after 60 ms. The
// call waits for the end of the program, but at most one more second for a program that cannot be
// killed. It does not wait for the end of the program's output: a descendant that keeps the pipe
// open does not delay the caller. The program does not outlive its caller: when the thread that
// runs it ends for any reason, the program is killed. This is safe in a process with threads.

// The number of the pipe for a report about the run, in the program.
inline constexpr int kReportDescriptor = 3;

struct Command {
  std::string path;  // absolute
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  // NAME=VALUE
  std::string directory = {};                 // in which it runs; empty: the caller's
  Duration limit;
  std::size_t max_output = 1024 * 1024;
  std::size_t max_error_output = 64 * 1024;  // in Finished; more is read and dropped
  // Of what the program writes to kReportDescriptor; more is read and dropped. 0: it has no such
  // descriptor.
  std::size_t max_report = 0;
  // Receives all of the error output, as it arrives.
  std::function<void(std::string_view)> on_error_output = {};
  // If true, a signal that ends this process (kEndingSignals, for example of a deadline) first
  // ends the program's whole group. However the call ends, processes that left the group (daemons)
  // are ended too, unless this process had children before. The call sets the handlers of these
  // signals, so the process must have one thread only, and start no other program meanwhile.
  bool ends_with_signals = false;
  // When this descriptor becomes readable, the program is ended as at the limit; -1 for none. For a
  // process in which several threads run programs.
  int stop = -1;
};

struct Finished {
  int exit_code = 0;  // where signal is 0
  int signal = 0;
  SecretString output;
  std::string error_output;
  std::string report;
};

// Fails: configuration (cannot be started), unavailable (still running at the limit, ended by
// `stop`, or a shortage of this machine), no_credential (more output than allowed), internal (other
// code of this process reaped it).
Result<Finished> run_command(const Command& command);

}  // namespace execcred

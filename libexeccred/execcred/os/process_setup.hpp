// SPDX-License-Identifier: Apache-2.0
// Hardens the process before it handles a secret, and writes its answer.
#pragma once

#include <execcred/base/result.hpp>

#include <string_view>

namespace execcred {

// Must be the first call in main. It opens /dev/null on closed standard input and error, so that no
// file of execcred gets their numbers. It sets SIGTERM and SIGCHLD to their defaults, and unblocks
// SIGTERM and the other signals that end a run. It ignores SIGPIPE and SIGXFSZ, so that a failed
// write is an error and does not end the process. It sets the umask to 077. It forbids core dumps
// and reading by other processes, and requests a signal for the end of the parent. Fails (internal)
// if standard output is closed or not open for writing. If the parent ends during this call, the
// process ends with the exit code of an internal error.
Status set_up_process();

// From here on, an allocation that fails ends the process with one line on standard error and the
// exit code of an internal error. The line begins with `program`, of which 100 bytes are shown.
// Without this call, libraries crash for lack of memory, or report it as an error of the other
// side. For programs only, never for users of the library.
void end_without_memory(std::string_view program);

// Gives this process the umask and the limit of core dumps that set_up_process() found: for a child
// that becomes another program. Async-signal-safe.
void restore_caller_limits();

// Whether the parent that set_up_process() found has ended. Async-signal-safe.
bool has_lost_parent();

// From here on the process may outlive its parent: for a long-running program.
void outlive_parent();

// The last step of a program: writes the whole `text` to standard output. Fails (internal). From
// here on, the signals that would end the process are blocked, except that of the deadline.
Status write_to_stdout(std::string_view text);

// The same for a text that a reader may stop reading: returns false if the reader has gone.
Result<bool> write_while_read(std::string_view text);

}  // namespace execcred

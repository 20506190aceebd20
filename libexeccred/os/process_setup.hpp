// SPDX-License-Identifier: Apache-2.0
// Hardens the process before it handles a secret, and writes its answer.
#pragma once

#include <execcred/base/result.hpp>

#include <string_view>

namespace execcred {

// Called first in main. Opens /dev/null on closed standard input and error, so that no file of ours
// takes their numbers; resets inherited signal dispositions and mask; ignores SIGPIPE and SIGXFSZ,
// so that a failed write is an error and does not end the process; forbids core dumps and reading
// by other processes; and requests a signal for the end of the parent. Fails (internal) where
// standard output is closed or not open for writing. If the parent ends during this call, the
// process ends too (internal).
Status set_up_process();

// From here on an allocation that fails ends the process: one line on standard error that `program`
// begins, of at most 100 bytes, and the exit code of an internal error. Without this, libraries
// crash for lack of memory, or report it as an error of the other side. For programs only, never
// for users of the library.
void end_without_memory(std::string_view program);

// Whether the parent that set_up_process() found is gone. For handlers of signals too.
bool has_lost_parent();

// From here on the process may outlive its parent: for a long-running program.
void outlive_parent();

// The last step of a program: writes the whole `text` to standard output, or fails (internal). From
// here on the signals that would end the process are blocked, except that of the deadline.
Status write_to_stdout(std::string_view text);

// The same for a text that a reader may stop reading: false if the reader has gone.
Result<bool> write_while_read(std::string_view text);

}  // namespace execcred

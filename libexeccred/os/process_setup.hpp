// SPDX-License-Identifier: Apache-2.0
// Makes the process itself safe before it touches a secret, and writes its one answer.
#pragma once

#include <execcred/base/result.hpp>

#include <string_view>

namespace execcred {

// Called first in main. Opens /dev/null on closed standard input and error, so that no file of
// ours takes their numbers; resets what a parent left behind in signal dispositions and mask;
// ignores SIGPIPE and SIGXFSZ, so that a failed write is an error and not a death; forbids core
// dumps and reading by other processes; and asks the kernel to say when the parent dies.
// Fails (internal) where standard output is closed or not open for writing.
// Where the parent ends while this runs, the process ends too (internal).
Status set_up_process();

// From here on an allocation that fails ends the process: one line on standard error that `program`
// begins, of at most 100 bytes, and the exit code of an internal error. Libraries crash where
// memory lacks, or take it for an error of the other side. For programs alone, never for the
// library's users.
void end_without_memory(std::string_view program);

// Whether the parent that set_up_process() found is gone. For handlers of signals too.
bool has_lost_parent();

// From here on the process outlives its parent: for a program that runs for long.
void outlive_parent();

// The last thing a program does: writes `text` to standard output, whole or failing. From here on
// the signals that would end the process wait; only the deadline does not. Fails (internal).
Status write_to_stdout(std::string_view text);

// The same for a text of which a reader may want only the front: false where the reader has gone.
Result<bool> write_while_read(std::string_view text);

}  // namespace execcred

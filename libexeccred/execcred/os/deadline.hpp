// SPDX-License-Identifier: Apache-2.0
// The time limit of the whole run.
//
// Clients run a plugin without a timeout and hold a lock during the run, so every step must end,
// even those that cannot be interrupted (a resolver, a read of standard input). One interval timer
// covers them all; its handler writes an error that was prepared beforehand and ends the process,
// using nothing but what POSIX allows in a signal handler.
#pragma once

#include <execcred/base/duration.hpp>

#include <chrono>
#include <string_view>

namespace execcred::deadline {

inline constexpr std::string_view kTimeoutHint = "--timeout=DURATION sets the limit, at most 60s";

// Ends the process with exit code 3 after `limit`, counted from now. A further call replaces the
// limit. `hint`, of at most 128 bytes, says what to do about a time-out.
void start(std::string_view program, Duration limit, std::string_view hint = kTimeoutHint);

// Stops the timer until start() is called again.
void stop();

// Sets the current step of the run for the message "timed out after 8s while PHASE"; nullptr for
// none. The handler reads `phase`, so it must have static storage duration.
void enter_phase(const char* phase);

// Whether the run waits for the source of the credential, which is then the cause of a time-out.
void set_waiting_for_source(bool is_waiting);
bool is_waiting_for_source();

// Sets a function that the handler calls with the phase (or nullptr), after its message was written
// and before the process ends. The function must be async-signal-safe.
void on_timeout(void (*action)(const char* phase));

// Writes `text` to the descriptor, or to standard error, as far as that can be done without
// waiting: a full pipe of a reader must not block the process. A pipe that polls writable takes
// PIPE_BUF bytes at once, so no more is written between two polls. Async-signal-safe.
void write_if_ready(int descriptor, std::string_view text);
void write_to_stderr(std::string_view text);

}  // namespace execcred::deadline

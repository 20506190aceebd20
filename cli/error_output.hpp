// SPDX-License-Identifier: Apache-2.0
// Messages on standard error that a slow reader must not lose. deadline::write_to_stderr() never
// waits, which is right for plugins and for signal handlers.
#pragma once

#include <chrono>
#include <string_view>

namespace execcred::cli {

// Writes all of `text` to standard error, and waits while its pipe is full. Returns false if the
// reader is gone, or if it reads nothing for as long as `patience`; the rest is then not written.
bool write_to_slow_reader(std::string_view text, std::chrono::milliseconds patience);

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// What the code itself guarantees, and a reader would otherwise have to prove. It is checked in
// every build. Never for input: that gets an Error.
#pragma once

namespace execcred {

// Writes one line to standard error, and ends the process with exit code 70 (internal).
[[noreturn]] void fail_assertion(const char* condition, const char* file, int line);

}  // namespace execcred

#define EXECCRED_ASSERT(condition) \
  ((condition) ? void() : ::execcred::fail_assertion(#condition, __FILE_NAME__, __LINE__))

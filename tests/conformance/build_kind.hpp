// SPDX-License-Identifier: Apache-2.0
// What the programs under test are built with, where a sanitizer or counters change what can be
// tested.
#pragma once

#include <string>

namespace blackbox {

#ifdef EXECCRED_ASAN
inline constexpr bool kWithAsan = true;
#else
inline constexpr bool kWithAsan = false;
#endif
#ifdef EXECCRED_TSAN
inline constexpr bool kWithTsan = true;
#else
inline constexpr bool kWithTsan = false;
#endif
#ifdef EXECCRED_COVERAGE
inline constexpr bool kWithCoverage = true;
#else
inline constexpr bool kWithCoverage = false;
#endif

// It needs more memory, descriptors and time.
inline constexpr bool kIsSanitized = kWithAsan || kWithTsan;
// ThreadSanitizer replaces vfork by fork, so posix_spawn does not return why execve failed.
inline constexpr bool kSaysWhyNotStarted = !kWithTsan;
// For MESSAGE.
inline std::string skipped_by_spawn() {
  return "skipped: the sanitizer's posix_spawn does not say why a program could not be started";
}
// A runtime that writes files of its own cannot bear a limit on their size, or another user.
inline constexpr bool kWritesNoFiles = !kWithTsan && !kWithCoverage;

}  // namespace blackbox

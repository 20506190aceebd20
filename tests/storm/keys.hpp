// SPDX-License-Identifier: Apache-2.0
// Many keys of one cache: whether they block each other, and when they are refreshed.
#pragma once

#include <filesystem>

namespace execcred::test {

struct KeysResult {
  int calls = 0;           // to fill the cache: one a key
  int waits = 0;           // how often a process waited for another one
  int refreshes = 0;       // within one lifetime: one a key
  int refresh_span = 0;    // seconds from the first to the last
  int busiest_second = 0;  // refreshes in it
};

// Credentials for an hour, which 16 threads all create in the same second, and then request in
// each second of a simulated clock.
KeysResult count_refreshes(int count, const std::filesystem::path& cache);

}  // namespace execcred::test

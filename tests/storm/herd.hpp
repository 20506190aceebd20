// SPDX-License-Identifier: Apache-2.0
// Many processes of a plugin that start at once, each as the child of a client of its own, with a
// token endpoint on loopback that answers when all of them run.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace execcred::test {

struct HerdPlan {
  std::string plugin = {};               // its path
  int size = 0;                          // processes
  int reply_status = 200;                // of the token endpoint
  std::string reply_body = {};           // likewise
  std::filesystem::path directory = {};  // empty: for the cache and the processes' output
};

struct HerdResult {
  std::vector<int> exit_codes = {};      // one for each process
  std::vector<std::string> tokens = {};  // what they printed, each different one once
  // When the token endpoint was called, from the release on.
  std::vector<std::chrono::duration<double>> calls = {};
  std::chrono::duration<double> elapsed = {};
};

// Throws std::runtime_error where the processes or the endpoint cannot be started.
HerdResult release_herd(const HerdPlan& plan);

}  // namespace execcred::test

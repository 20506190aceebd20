// SPDX-License-Identifier: Apache-2.0
// Many processes of a plugin that start at once, each as the child of its own client, with a
// server on loopback that answers when all of them run.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace execcred::test {

struct HerdServer {
  std::string url = {};
  std::string ca_pem = {};
  std::filesystem::path ca_file = {};
};

struct HerdCommand {
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};
};

struct HerdPlan {
  std::string plugin = {};  // its path
  int size = 0;             // processes
  // The arguments and variables of each, in addition to a cache in `directory`.
  std::function<HerdCommand(const HerdServer&)> command = {};
  int reply_status = 200;                // to a POST
  std::string reply_body = {};           // likewise; empty: the posted body, also for a GET
  std::filesystem::path directory = {};  // empty: for the cache and the processes' output
};

struct HerdResult {
  std::vector<int> exit_codes = {};      // one for each process
  std::vector<std::string> tokens = {};  // their different outputs
  // The times of the POSTs, from the start of the herd.
  std::vector<std::chrono::duration<double>> calls = {};
  std::chrono::duration<double> elapsed = {};
};

// Throws std::runtime_error if the processes or the server cannot be started.
HerdResult release_herd(const HerdPlan& plan);

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// Runs many processes that use one cache, and counts what they did.
#pragma once

#include <execcred/os/file.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

namespace execcred::test {

// A file in which processes count events: each event appends a byte.
class Tally {
 public:
  explicit Tally(const std::filesystem::path& path);
  void add() const;
  std::size_t count() const;
  // Polls until `count` bytes were added; false after a minute.
  bool wait_for(std::size_t count) const;

 private:
  FileDescriptor file_;
};

// Starts `count` processes, releases them at the same time, and returns their exit codes: the
// result of `body` for the number of the process, or 128 + N if signal N ended it.
std::vector<int> run_at_once(int count, const std::function<int(int)>& body);

// Runs `body` in a process that is killed with SIGKILL at its Nth system call, counted from the
// first that `body` makes. False once `body` makes fewer.
bool is_killed_at(int system_call, const std::function<void()>& body);

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// Many processes on one cache, and what they did.
#pragma once

#include <execcred/os/file.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

namespace execcred::test {

// A file that processes append bytes to, and count in.
class Tally {
 public:
  explicit Tally(const std::filesystem::path& path);
  void add() const;
  std::size_t count() const;
  // Looks again and again until `count` were added; false after a minute.
  bool wait_for(std::size_t count) const;

 private:
  FileDescriptor file_;
};

// Starts `count` processes, lets them go at once, and gives each one's exit code, which is what
// `body` returned for its number; 128 + N for one that signal N ended.
std::vector<int> run_at_once(int count, const std::function<int(int)>& body);

// Runs `body` in a process that is killed with SIGKILL at its Nth system call, counted from the
// first that `body` makes. False once `body` makes fewer.
bool is_killed_at(int system_call, const std::function<void()>& body);

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
//
// The common part of the stand-alone test servers: how a script knows that one is ready, and how it
// ends.
#pragma once

#include <csignal>
#include <string>

namespace execcred::test {

// Writes atomically: a poller never sees a part of the file. Throws std::runtime_error.
void write_file(const std::string& path, const std::string& text);

// Ends this program with its parent, a script that may die. Throws std::runtime_error.
void die_with_parent();

// Blocked before any thread starts, so that only await() receives them.
class StopSignals {
 public:
  StopSignals();
  void await() const;

 private:
  sigset_t signals_{};
};

}  // namespace execcred::test

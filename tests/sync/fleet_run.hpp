// SPDX-License-Identifier: Apache-2.0
// `execcred sync --to-dir` as a process that runs until a test ends it.
#pragma once

#include "fleet.hpp"

#include <string>
#include <vector>

namespace blackbox {

// The reply of a run's --listen server, whose address is in the run's log.
std::string answer_of(const std::string& log, const std::string& path);
// Sends the run's log to a file, so that it can be read during the run.
void write_log(Command& command, const std::string& file);

class Run {
 public:
  explicit Run(const Fleet& fleet, std::vector<std::string> arguments = {},
               const std::vector<std::string>& environment = {});

  std::string log() const { return read_text(fleet_.sandbox().path() / "log"); }
  // Ends the run with SIGTERM.
  Outcome end();
  void send(int signal) const { child_.send(signal); }
  Outcome wait() { return child_.wait(); }

  std::string get(const std::string& path) const { return answer_of(log(), path); }

 private:
  const Fleet& fleet_;
  Child child_;
};

}  // namespace blackbox

// SPDX-License-Identifier: Apache-2.0
// A plugin's standard error, shown to the person who runs the command.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// Writes the output line by line to this process's standard error. Control characters except tabs
// become \xNN, so that a terminal does not interpret them. If nothing reads standard error for a
// second, the rest is dropped.
//
// The error of an execcred plugin ("execcred-x: error: ..." with its context and hint) is kept
// until the plugin's end: if get's own error contains it, it is not shown twice.
class PluginOutput {
 public:
  void take(std::string_view text);
  // Writes the incomplete last line, and a note if output was dropped. If `has_error_told`, get's
  // own error contains the kept one, which is then not written.
  void end(bool has_error_told);

 private:
  void take_line(std::string_view line);
  void write_held();
  void write_line(std::string_view line);

  std::string unfinished_;
  std::vector<std::string> held_;  // the lines of an error
  std::size_t taken_ = 0;
  std::size_t room_ = 64 * 1024;  // of what is still written
  bool was_cut_ = false;
  std::chrono::seconds patience_{1};  // with a reader; none after it did not read
};

}  // namespace execcred::cli

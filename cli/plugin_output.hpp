// SPDX-License-Identifier: Apache-2.0
// A plugin's standard error, shown to the person who runs the command.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// Writes it line by line to this process's standard error. No terminal acts on it: control
// characters but tabs become \xNN. A reader that does not read holds the command up for a second at
// most, and loses the rest.
//
// The error of a plugin of ours ("execcred-x: error: ..." with its context and hint) waits for the
// plugin's end: where get's own error has all of it, it is not shown twice.
class PluginOutput {
 public:
  void take(std::string_view text);
  // What has no line's end yet, and whether there was more than is shown.
  void end(bool has_error_told);

 private:
  void take_line(std::string_view line);
  void write_held();
  void write_line(std::string_view line);
  void write(std::string_view text);

  std::string unfinished_;
  std::vector<std::string> held_;  // the lines of an error
  std::size_t taken_ = 0;
  std::size_t room_ = 64 * 1024;  // of what is still written
  bool was_cut_ = false;
};

}  // namespace execcred::cli

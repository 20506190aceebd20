// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "process.hpp"
#include "report.hpp"

namespace bench {

struct Subject {
  Row row;
  Command command;
  bool is_in_bulk = false;
  std::vector<Outcome> outcomes;
};

struct Options {
  std::vector<Subject> subjects;
  size_t floor = SIZE_MAX;
  size_t go_floor = SIZE_MAX;
  int rounds = 300;
  int execs = 0;
  std::string repeat_with = "execcred-bench";
};

// Ends the program on --help and on errors.
Options parse_options(const std::vector<std::string>& args);

}  // namespace bench

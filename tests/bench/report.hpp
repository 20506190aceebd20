// SPDX-License-Identifier: Apache-2.0
//
// The figures, for people (one aligned table), for programs (JSON), and against limits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect.hpp"

namespace bench {

struct Figures {
  double wall_us = 0;  // median
  double wall_lower_quartile_us = 0;
  double cpu_us = 0;           // median of user + system
  long page_faults = 0;        // median
  std::optional<long> rss_kb;  // largest
  std::optional<long> instructions;
  std::optional<long> system_calls;
  std::vector<Opened> opened;
  std::optional<long> stripped_bytes;
};

struct Limit {
  double wall_ratio = 0;
  long rss_kb = 0;
};

struct Row {
  std::string name;
  std::string command_line;
  std::string not_measured;  // the reason; empty where there are figures
  Figures figures;
  std::optional<Limit> limit;
};

struct Report {
  int rounds = 0;
  std::string repeat_with;
  std::vector<Row> rows;
  const Row* floor = nullptr;     // the C program: every other row's wall is divided by its wall
  const Row* go_floor = nullptr;  // the Go program; null where there is none
};

void print_table(const Report& report);
void print_json(const Report& report);

// Prints one line on stderr for every limit; false if one is missed or could not be measured.
bool check_limits(const Report& report);

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
//
// The measurements as JSON. tests/bench/report.py makes tables of it and checks the limits, and
// tests/bench/chart.py draws it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bulk.hpp"
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

struct Row {
  std::string name;
  std::string kind;  // floor, plugin or peer
  std::string command_line;
  std::string not_measured;  // the reason; empty if there are figures
  std::string against;       // the name of the peer that does the same; may be empty
  std::vector<std::pair<std::string, double>> limits;
  Figures figures;
  std::optional<Bulk> bulk;
};

struct Report {
  int rounds = 0;
  int execs = 0;
  std::string repeat_with;
  double load_before = 0;  // of the last minute, -1 if unknown
  std::vector<Row> rows;
  const Row* floor = nullptr;     // the C program: every other row's wall is divided by its wall
  const Row* go_floor = nullptr;  // the Go program; may be null
};

void print_json(const Report& report);

}  // namespace bench

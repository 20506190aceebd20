// SPDX-License-Identifier: Apache-2.0
// The output formats of examinations. No control character of a text from elsewhere is printed.
#pragma once

#include "steps.hpp"

#include "paint.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::doctor {

// One line for each step, then the result with its cause and hint. `shows_exchange` adds the
// requests and replies. `next` are whole lines; the command that explains the cause comes last.
std::string write_one(const Item& item, bool shows_exchange, const cli::Paint& paint = {},
                      std::string_view next = {});
// A table with failures first, and write_summary() below it.
std::string write_table(const std::vector<Item>& items, bool is_wide, const cli::Paint& paint = {},
                        std::string_view next = {});
// NAMESPACE/NAME of each item, one line each, failures first.
std::string write_names(const std::vector<Item>& items);
// JSON as described by config/schemas/doctor.schema.json.
std::string write_json(const std::vector<Item>& items);
std::string write_yaml(const std::vector<Item>& items);
// The text exposition format of Prometheus, for node_exporter's textfile collector.
std::string write_prometheus(const std::vector<Item>& items);
// One self-contained HTML page.
std::string write_html(const std::vector<Item>& items, TimePoint now);

// The items with failures first, then warnings, then the others, each in the given order.
std::vector<const Item*> by_result(const std::vector<Item>& items);
// A cause, and the number of clusters that have it.
struct CauseCount {
  std::string_view cause = {};
  std::size_t count = 0;
  Verdict worst = Verdict::skipped;
};
// The most frequent first.
std::vector<CauseCount> count_causes(const std::vector<Item>& items);
// "3 clusters: 1 ok, 0 warn, 2 fail"
std::string write_totals(const std::vector<Item>& items);
// write_totals(), one line for each cause such as "     3  connect-refused", the lines of `next`,
// and the command that explains the first cause.
std::string write_summary(const std::vector<Item>& items, std::string_view next = {});
// The line with the command that explains the cause.
std::string explanation_of(std::string_view cause);

}  // namespace execcred::doctor

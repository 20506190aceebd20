// SPDX-License-Identifier: Apache-2.0
// The output formats of examinations. No control character of a text from elsewhere is printed.
#pragma once

#include "report.hpp"

#include "paint.hpp"

#include <string>
#include <vector>

namespace execcred::doctor {

// One line for each step, then the result with its cause and hint. `shows_exchange` adds the
// requests and replies.
std::string write_one(const Item& item, bool shows_exchange, const cli::Paint& paint = {});
// A table with failures first, and write_summary() below it.
std::string write_table(const std::vector<Item>& items, bool is_wide, const cli::Paint& paint = {});
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
// A line with the number of clusters and of each result. Then one line for each cause with its
// number, such as "     3  connect-refused", the most frequent first.
std::string write_summary(const std::vector<Item>& items);

}  // namespace execcred::doctor

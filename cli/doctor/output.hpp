// SPDX-License-Identifier: Apache-2.0
// The output formats of examinations. No text in them contains a foreign control character.
#pragma once

#include "report.hpp"

#include "paint.hpp"

#include <string>
#include <vector>

namespace execcred::doctor {

// A line a step, then the cause and its remedy. `shows_exchange` adds the requests and replies.
std::string write_one(const Item& item, bool shows_exchange, const cli::Paint& paint = {});
// A table, failures first, and the number of each cause.
std::string write_table(const std::vector<Item>& items, bool is_wide, const cli::Paint& paint = {});
// NAMESPACE/NAME, one a line.
std::string write_names(const std::vector<Item>& items);
// config/schemas/doctor.schema.json
std::string write_json(const std::vector<Item>& items);
std::string write_yaml(const std::vector<Item>& items);
// The text exposition format, for node_exporter's textfile collector.
std::string write_prometheus(const std::vector<Item>& items);
// One self-contained page.
std::string write_html(const std::vector<Item>& items, TimePoint now);

// Failures first, then warnings; among them in the order of the source.
std::vector<const Item*> by_result(const std::vector<Item>& items);
// "3 connect-refused", most frequent first, with the number of each.
std::string write_summary(const std::vector<Item>& items);

}  // namespace execcred::doctor

// SPDX-License-Identifier: Apache-2.0
// What the suite prints instead of a log (--report): the rule and the observation of each case, as
// JSON or as Markdown. It never has a plugin's output, which may be a credential.
#pragma once

#include <string>

namespace blackbox {

// The names of the formats are those of doctest's reporters that this file registers.
bool is_report_format(const std::string& name);

// How many cases the program has started, whatever it reports.
int cases_run();

}  // namespace blackbox

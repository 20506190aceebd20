// SPDX-License-Identifier: Apache-2.0
// The programs' declarations as JSON, from which manual pages, JSON Schemas and the tables of docs/
// are generated.
//
//   {"version", "shared": [OPTION...],
//    "plugins": [{"name", "summary", "options": [OPTION...], "examples"}...],
//    "execcred": {"name", "summary",
//                 "commands": [{"name", "summary", "operands", "options", "examples"}...]}}
//
// "shared" has the options that several plugins have. They are also among the options of each of
// these plugins, marked with "isShared". A member of an option that is false, empty or absent is
// left out.
#pragma once

#include "command_line.hpp"

#include <execcred/json/json.hpp>

namespace execcred::cli {

json::Value facts(const CommandLine& line);

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// Writes a tree as YAML that reads back as the same tree. A string that YAML 1.1 or 1.2 would read
// as something else (no, 1e3, 2026-01-01, "a: b") is quoted. Lines of visible ASCII are a literal
// block, for people.
#pragma once

#include <execcred/json/json.hpp>

#include <string>

namespace execcred::yaml {

// One document in block style, ending in a newline.
std::string to_text(const json::Value& value);

}  // namespace execcred::yaml

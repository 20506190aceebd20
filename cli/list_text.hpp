// SPDX-License-Identifier: Apache-2.0
// Output formats of lists for programs.
#pragma once

#include <execcred/json/json.hpp>

#include <string>
#include <string_view>

namespace execcred::cli {

// {"items": [...]}
json::Value list_of(json::Array items);

// A document as -o json or -o yaml.
std::string document_text(const json::Value& document, std::string_view format);

}  // namespace execcred::cli

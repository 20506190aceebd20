// SPDX-License-Identifier: Apache-2.0
// The documents that commands print for programs.
#pragma once

#include <execcred/json/json.hpp>

#include <string>
#include <string_view>

namespace execcred::cli {

// {"items": [...]}
json::Value list_of(json::Array items);

// {"NAME": "TEXT", ...}, of a map.
template <class Texts>
json::Value object_of(const Texts& texts) {
  json::Value object((json::Object()));
  for (const auto& [name, text] : texts) object.add(name, json::Value(text));
  return object;
}

// Adds the text, unless it is empty.
void add_text(json::Value& object, std::string_view name, std::string_view text);

template <class Integer>
json::Value number_of(Integer number) {
  return json::Value(json::Number{std::to_string(number)});
}

// A document as -o json or -o yaml.
std::string document_text(const json::Value& document, std::string_view format);

}  // namespace execcred::cli

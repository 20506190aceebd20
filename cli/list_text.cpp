// SPDX-License-Identifier: Apache-2.0
#include "list_text.hpp"

#include <execcred/yaml/yaml_write.hpp>

#include <utility>

namespace execcred::cli {

json::Value list_of(json::Array items) {
  json::Value list((json::Object()));
  list.add("items", json::Value(std::move(items)));
  return list;
}

void add_text(json::Value& object, std::string_view name, std::string_view text) {
  if (!text.empty()) object.add(name, json::Value(text));
}

std::string document_text(const json::Value& document, std::string_view format) {
  return format == "yaml" ? yaml::to_text(document) : json::to_indented_text(document);
}

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
#include <execcred/documents.hpp>
#include <execcred/json_reader.hpp>
#include <execcred/text.hpp>
#include <execcred/yaml.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

using json::Value;

// Where the JSON document at the front of `text` ends, or the end of the text.
std::size_t json_document_size(std::string_view text) {
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth <= 1) {
      return i + 1;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return text.size();
}

std::string_view skip_separators(std::string_view text) {
  for (text = trim(text); text.starts_with("---");) text = trim(text.substr(3));
  return text;
}

Result<std::vector<Value>> parse_json_documents(std::string_view text, std::size_t max_bytes) {
  std::vector<Value> documents;
  const std::string_view whole = text;
  for (text = skip_separators(text); !text.empty(); text = skip_separators(text)) {
    const std::size_t size = json_document_size(text);
    Result<Value> document = json::parse(text.substr(0, size), {.bytes = max_bytes});
    if (!document) {
      const auto lines = std::count(whole.begin(), whole.end() - text.size(), '\n');
      if (lines > 0) {
        document.error().message += ", counted from line " + std::to_string(lines + 1);
      }
      return std::move(document).error();
    }
    documents.push_back(std::move(document).value());
    text.remove_prefix(size);
  }
  return documents;
}

Result<std::vector<Value>> parse_yaml_documents(std::string_view text, std::size_t max_bytes) {
  std::vector<Value> documents;
  TRY(yaml::for_each_document(text, {.bytes = max_bytes}, [&documents](Value document) -> Status {
    documents.push_back(std::move(document));
    return {};
  }));
  return documents;
}

}  // namespace

Result<std::vector<Value>> parse_documents(std::string_view text, std::size_t max_bytes) {
  const bool looks_like_json = trim(text).starts_with('{');
  Result<std::vector<Value>> documents = looks_like_json ? parse_json_documents(text, max_bytes)
                                                         : parse_yaml_documents(text, max_bytes);
  if (!documents && looks_like_json) {
    Result<std::vector<Value>> flow_style = parse_yaml_documents(text, max_bytes);
    if (flow_style) return flow_style;
  }
  if (!documents) return json::field_error("", documents.error().message);
  return documents;
}

}  // namespace execcred

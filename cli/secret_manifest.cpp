// SPDX-License-Identifier: Apache-2.0
#include "secret_manifest.hpp"

#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace execcred::cli {
namespace {

using json::Object;
using json::Value;

Value object_of(const std::map<std::string, std::string>& texts) {
  Value object((Object()));
  for (const auto& [name, text] : texts) object.add(name, Value(text));
  return object;
}

std::string indented(std::string_view text, std::size_t spaces) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (text.front() != '\n') result.append(spaces, ' ');
    result += text.substr(0, end);
    text.remove_prefix(end);
  }
  return result;
}

// Whether YAML's literal style holds the text unchanged. Some characters beyond ASCII are line
// breaks in YAML, and would end the block.
bool is_block(std::string_view text) {
  const bool is_safe = std::all_of(text.begin(), text.end(),
                                   [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  return is_safe && text.size() > 1 && text.ends_with('\n') && !text.ends_with("\n\n") &&
         !is_space(text.front());
}

std::string member(const std::string& name, const std::string& text) {
  if (!is_block(text)) return yaml::to_text(Value(Object{{name, Value(text)}}));
  constexpr std::string_view kEmpty = "\"\"\n";
  std::string result = yaml::to_text(Value(Object{{name, Value("")}}));
  result.resize(result.size() - kEmpty.size());
  return result + "|\n" + indented(text, 2);
}

}  // namespace

std::string to_text(const SecretManifest& manifest) {
  Value metadata((Object()));
  metadata.add("name", Value(manifest.name));
  metadata.add("namespace", Value(manifest.name_space));
  if (!manifest.labels.empty()) metadata.add("labels", object_of(manifest.labels));
  if (!manifest.annotations.empty()) metadata.add("annotations", object_of(manifest.annotations));
  Value head((Object()));
  head.add("apiVersion", Value("v1"));
  head.add("kind", Value("Secret"));
  head.add("metadata", std::move(metadata));
  std::string text;
  for (const std::string& comment : manifest.comments) text += "# " + printable(comment) + "\n";
  text += yaml::to_text(head) + "stringData:\n";
  for (const auto& [name, value] : manifest.data) text += indented(member(name, value), 2);
  return text;
}

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include "list_text.hpp"

#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <chrono>
#include <string_view>

namespace execcred::doctor {
namespace {

using cli::add_text;
using json::Value;

Value steps_of(const Item& item) {
  json::Array steps;
  for (std::size_t i = 0; i < kStepCount; ++i) {
    const auto id = static_cast<StepId>(i);
    const Step& step = item.step(id);
    Value object((json::Object()));
    object.add("name", Value(name_of(id)));
    object.add("result", Value(name_of(step.verdict)));
    add_text(object, "message", step.message);
    steps.push_back(std::move(object));
  }
  return Value(std::move(steps));
}

Value value_of(const Item& item) {
  const auto duration = std::chrono::round<std::chrono::milliseconds>(item.duration);
  Value object((json::Object()));
  add_text(object, "namespace", printable(item.name_space));
  object.add("name", Value(printable(item.name)));
  add_text(object, "provider", item.provider);
  object.add("result", Value(name_of(item.verdict())));
  add_text(object, "cause", item.cause());
  add_text(object, "user", item.user);
  if (item.expires) object.add("expires", Value(text_of(*item.expires)));
  object.add("duration_ms", cli::number_of(duration.count()));
  object.add("steps", steps_of(item));
  return object;
}

Value document_of(const std::vector<Item>& items) {
  json::Array array;
  array.reserve(items.size());
  for (const Item& item : items) array.push_back(value_of(item));
  return cli::list_of(std::move(array));
}

}  // namespace

// Writes one item after the other, so that there is never a tree of all items in memory.
std::string write_json(const std::vector<Item>& items) {
  if (items.empty()) return json::to_indented_text(document_of(items));
  std::string text = "{\n  \"items\": [";
  std::string_view separator = "\n";
  for (const Item& item : items) {
    text += separator;
    separator = ",\n";
    std::string one = json::to_indented_text(value_of(item));
    one.pop_back();
    text += "    ";
    for (const char c : one) {
      text.push_back(c);
      if (c == '\n') text += "    ";
    }
  }
  return text + "\n  ]\n}\n";
}

std::string write_yaml(const std::vector<Item>& items) { return yaml::to_text(document_of(items)); }

}  // namespace execcred::doctor

// SPDX-License-Identifier: Apache-2.0
// YAML documents: each is a tree that JSON can hold, and written as YAML or as JSON it reads back
// as the same tree.
#include "fuzz.hpp"
#include "json_tree.hpp"

#include <execcred/base/try.hpp>
#include <execcred/yaml/yaml.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

// A written tree may be larger than its text, because of escapes.
constexpr yaml::Limits kRoom = {.bytes = 16UL * 1024 * 1024};

Result<std::vector<json::Value>> read(std::string_view text, const yaml::Limits& limits) {
  std::vector<json::Value> documents;
  TRY(yaml::for_each_document(text, limits, [&documents](json::Value document) -> Status {
    documents.push_back(std::move(document));
    return {};
  }));
  return documents;
}

void check_written(const json::Value& value) {
  const std::string as_json = json::to_text(value);
  const Result<json::Value> from_json = json::parse(as_json, {.bytes = kRoom.bytes});
  require(from_json && *from_json == value, "JSON holds the tree");
  require(nlohmann::json::accept(as_json), "it is JSON to others too");

  const Result<std::vector<json::Value>> from_yaml = read(yaml::to_text(value), kRoom);
  require(from_yaml && from_yaml->size() == 1, "YAML holds the tree");
  require(from_yaml->front() == value, "and says the same");
}

}  // namespace

void check(std::string_view input) {
  const Result<std::vector<json::Value>> documents = read(input, {});
  if (documents) {
    for (const json::Value& document : *documents) check_written(document);
  } else {
    require(documents.error().kind == Error::Kind::configuration, "bad YAML is configuration");
  }
  // JSON holds strings that a YAML text cannot hold as they are.
  const Result<json::Value> tree = json::parse(input);
  if (tree && !tree->is_null() && !has_huge_number(*tree)) check_written(*tree);
}

}  // namespace execcred::fuzz

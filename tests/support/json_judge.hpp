// SPDX-License-Identifier: Apache-2.0
// Compares the result of another parser, simdjson, with execcred's JSON tree.
#pragma once

#include <execcred/json/json.hpp>

#include <simdjson.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace execcred::test {

// Whether the tree has a number that simdjson refuses: it fits neither 64 bits nor a double.
inline bool has_huge_number(const json::Value& value) {
  if (const json::Number* number = value.number()) {
    if (number->text.find_first_of(".eE") != std::string::npos) {
      return !std::isfinite(std::strtod(number->text.c_str(), nullptr));
    }
    errno = 0;
    if (number->text.front() == '-') {
      std::strtoll(number->text.c_str(), nullptr, 10);
    } else {
      std::strtoull(number->text.c_str(), nullptr, 10);
    }
    return errno == ERANGE;
  }
  if (const json::Array* items = value.array()) {
    return std::any_of(items->begin(), items->end(), has_huge_number);
  }
  const json::Object* members = value.object();
  return members != nullptr &&
         std::any_of(members->begin(), members->end(),
                     [](const json::Member& member) { return has_huge_number(member.value); });
}

class JsonJudge {
 public:
  // nullopt if the text is not JSON; valid until the next call.
  std::optional<simdjson::dom::element> read(std::string_view text) {
    text_ = simdjson::padded_string(text);
    simdjson::dom::element element;
    if (parser_.parse(text_).get(element) != simdjson::SUCCESS) return std::nullopt;
    return element;
  }

  bool accepts(std::string_view text) { return read(text).has_value(); }

  // Whether `text` is JSON with the values of the tree: the same members in the same order.
  bool means(std::string_view text, const json::Value& value) {
    const std::optional<simdjson::dom::element> theirs = read(text);
    return theirs && is_same(*theirs, value);
  }

 private:
  static bool is_same(simdjson::dom::element theirs, const json::Value& value) {
    using Type = simdjson::dom::element_type;
    switch (theirs.type()) {
      case Type::OBJECT:
        return value.object() != nullptr &&
               is_same(theirs.get_object().value_unsafe(), *value.object());
      case Type::ARRAY:
        return value.array() != nullptr &&
               is_same(theirs.get_array().value_unsafe(), *value.array());
      case Type::STRING:
        return value.string() != nullptr && theirs.get_string().value_unsafe() == *value.string();
      case Type::BOOL:
        return value.boolean() != nullptr && theirs.get_bool().value_unsafe() == *value.boolean();
      case Type::NULL_VALUE:
        return value.is_null();
      default:
        return value.number() != nullptr && is_same_number(theirs, value.number()->text.c_str());
    }
  }

  static bool is_same(const simdjson::dom::array& theirs, const json::Array& items) {
    auto item = items.begin();
    for (const simdjson::dom::element element : theirs) {
      if (item == items.end() || !is_same(element, *item++)) return false;
    }
    return item == items.end();
  }

  static bool is_same(const simdjson::dom::object& theirs, const json::Object& members) {
    auto member = members.begin();
    for (const auto field : theirs) {
      if (member == members.end() || field.key != member->name) return false;
      if (!is_same(field.value, member++->value)) return false;
    }
    return member == members.end();
  }

  static bool is_same_number(simdjson::dom::element theirs, const char* text) {
    if (theirs.is_int64())
      return theirs.get_int64().value_unsafe() == std::strtoll(text, nullptr, 10);
    if (theirs.is_uint64()) {
      return theirs.get_uint64().value_unsafe() == std::strtoull(text, nullptr, 10);
    }
    return theirs.get_double().value_unsafe() == std::strtod(text, nullptr);
  }

  simdjson::dom::parser parser_;
  simdjson::padded_string text_;
};

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// Typed reading of a json::Value, with the field's path in every error: "spec.cluster.server
// must be a string, not a number".
//
// A member that is null counts as absent, as in Go. Strings may not hold control characters: no
// field that is read here needs them, and the values go to headers, arguments and terminals.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::json {

// The text of `value`; empty if it is nullptr or not a string. For values that are only shown or
// compared.
std::string text_or_empty(const Value* value);
// The text of a member.
std::string text_or_empty(const Value& object, std::string_view name);

// Follows the names down through objects; nullptr if one is missing.
const Value* find_at(const Value& document, std::initializer_list<std::string_view> path);
// The same with a path like "status.token".
const Value* find_at(const Value& document, std::string_view path);

class ObjectReader {
 public:
  // `value` must outlive the reader. `path` is empty for the document itself. Fails (configuration)
  // if `value` is not an object.
  static Result<ObjectReader> open(const Value& value, std::string path, Keys keys = Keys::exact);

  Result<std::optional<std::string>> optional_string(std::string_view name) const;
  Result<std::string> string_or_empty(std::string_view name) const;
  Result<bool> boolean_or_false(std::string_view name) const;
  Result<std::optional<ObjectReader>> optional_object(std::string_view name) const;
  // Each element must be an object.
  Result<std::vector<ObjectReader>> objects(std::string_view name) const;
  // Each element must be a string.
  Result<std::vector<std::string>> strings(std::string_view name) const;

  // A string that must be present and not empty.
  Result<std::string> required_string(std::string_view name) const;
  Result<ObjectReader> required_object(std::string_view name) const;

  // The member of that name; nullptr if it is absent or null.
  const Value* find(std::string_view name) const;
  const Value& value() const { return *value_; }
  const std::string& path() const { return path_; }
  std::string path_of(std::string_view name) const;

 private:
  ObjectReader(const Value& value, std::string path, Keys keys)
      : value_(&value), path_(std::move(path)), keys_(keys) {}

  const Value* value_;
  std::string path_;
  Keys keys_;
};

// Reads a string. Fails (configuration) if it is not a string, or has a control character.
Result<std::string> read_string(const Value& value, const std::string& path);
// Reads a string, or an array of strings. Fails (configuration) in the same way.
Result<std::vector<std::string>> read_strings(const Value& value, const std::string& path);

// An Error (configuration) about the field at `path`: "PATH PROBLEM".
Error field_error(const std::string& path, std::string_view problem);
// The same about a value of another kind: "PATH must be WANTED, not a number".
Error wrong_kind(const std::string& path, std::string_view wanted, const Value& value);

}  // namespace execcred::json

// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259) as a tree that loses nothing: members keep their order, numbers their digits.
//
// Parsing refuses hostile inputs: texts over a size, nesting over a depth (both checked before
// memory is allocated), and duplicate keys, which two readers would read differently. Messages give
// a position and, unless the document is one with a secret, the name of a duplicate key.
#pragma once

#include <execcred/base/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace execcred::json {

class Value;
struct Member;
using Array = std::vector<Value>;
using Object = std::vector<Member>;

struct Null {
  bool operator==(const Null&) const = default;
};

// The digits as in the text; always a valid JSON number.
struct Number {
  std::string text;
  bool operator==(const Number&) const = default;
};

class Value {
 public:
  Value();
  explicit Value(bool value);
  explicit Value(Number value);
  explicit Value(std::string value);
  explicit Value(std::string_view value);
  explicit Value(const char* value);
  explicit Value(Array value);
  explicit Value(Object value);

  bool is_null() const { return std::holds_alternative<Null>(data_); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const Number* number() const { return std::get_if<Number>(&data_); }
  const std::string* string() const { return std::get_if<std::string>(&data_); }
  std::string* string() { return std::get_if<std::string>(&data_); }
  const Array* array() const { return std::get_if<Array>(&data_); }
  Array* array() { return std::get_if<Array>(&data_); }
  const Object* object() const { return std::get_if<Object>(&data_); }
  Object* object() { return std::get_if<Object>(&data_); }

  // "null", "a boolean", "a number", "a string", "an array", "an object".
  std::string_view kind() const;

  // The member of an object; nullptr if there is none, or if this value is not an object.
  const Value* find(std::string_view name) const;
  // For building: appends a member to an object or a null, which becomes an object. Names are not
  // checked. The reference is good until the next member is added.
  Value& add(std::string_view name, Value value);

  bool operator==(const Value& other) const;

 private:
  std::variant<Null, bool, Number, std::string, Array, Object> data_;
};

struct Member {
  std::string name;
  Value value;
  bool operator==(const Member& other) const = default;
};

// These are here because they need the complete type Member.
inline Value::Value() = default;
inline Value::Value(bool value) : data_(value) {}
inline Value::Value(Number value) : data_(std::move(value)) {}
inline Value::Value(std::string value) : data_(std::move(value)) {}
inline Value::Value(std::string_view value) : data_(std::string(value)) {}
inline Value::Value(const char* value) : data_(std::string(value)) {}
inline Value::Value(Array value) : data_(std::move(value)) {}
inline Value::Value(Object value) : data_(std::move(value)) {}

enum class Keys {
  exact,
  // Two keys that Go's encoding/json would store in one field are duplicates.
  ignore_case,
};

struct Limits {
  std::size_t bytes = 128 * 1024;
  std::size_t depth = 32;
  Keys keys = Keys::exact;
};

// Parses one document. White space around it is allowed, a byte order mark is not. Fails
// (configuration), with "line L, column C" for an error of syntax.
Result<Value> parse(std::string_view text, const Limits& limits = {});

// Overwrites and empties every string in the tree.
void wipe(Value& value);

// A document with a secret in it, which is wiped when it ends.
class SecretValue {
 public:
  explicit SecretValue(Value value) : value_(std::move(value)) {}
  ~SecretValue() { wipe(value_); }
  SecretValue(SecretValue&&) noexcept = default;
  SecretValue& operator=(SecretValue&&) = delete;
  SecretValue(const SecretValue&) = delete;
  SecretValue& operator=(const SecretValue&) = delete;

  const Value& operator*() const { return value_; }
  const Value* operator->() const { return &value_; }

 private:
  Value value_;
};

// The same as parse(), but no message quotes a key.
Result<SecretValue> parse_secret(std::string_view text, const Limits& limits = {});

// The name as encoding/json folds it: ASCII case, and the two letters that Unicode folds to ASCII
// (U+017F to s, U+212A to k).
std::string fold_key(std::string_view name);

enum class Escape {
  minimal,  // what RFC 8259 demands
  html,     // also < > & U+2028 U+2029 as \u00XX, byte for byte what Go's json.Marshal writes
};

// Without white space. Strings must be valid UTF-8, which parse() ensures and these functions do
// not check.
void write(const Value& value, std::string& out, Escape escape = Escape::minimal);
void write_string(std::string_view text, std::string& out, Escape escape = Escape::minimal);
std::string to_text(const Value& value, Escape escape = Escape::minimal);
// For people: indents by two spaces for each level, and ends in a newline.
std::string to_indented_text(const Value& value);

}  // namespace execcred::json

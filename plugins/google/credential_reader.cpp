// SPDX-License-Identifier: Apache-2.0
#include "credential_reader.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>

#include <charconv>

namespace execcred::google {

namespace {

Result<SecretString> read_secret(const json::Value& value, const std::string& path) {
  const std::string* const text = value.string();
  if (text == nullptr) return json::wrong_kind(path, "a string", value);
  if (trim(*text).empty()) return json::field_error(path, "is empty");
  return SecretString(*text);
}

}  // namespace

Result<SecretString> required_secret(const json::ObjectReader& reader, std::string_view name) {
  const json::Value* const value = reader.find(name);
  const std::string path = reader.path_of(name);
  return value == nullptr ? json::field_error(path, "is missing") : read_secret(*value, path);
}

Result<SecretString> read_secret_line(const json::Value& value, const std::string& path) {
  SecretString secret = TRY(read_secret(value, path));
  if (!has_control_character(secret.reveal())) return secret;
  return json::field_error(path, "has a control character");
}

Result<SecretString> optional_secret(const json::ObjectReader& reader, std::string_view name) {
  const json::Value* const value = reader.find(name);
  return value == nullptr ? SecretString() : read_secret_line(*value, reader.path_of(name));
}

Result<std::optional<int>> optional_number(const json::ObjectReader& reader, std::string_view name,
                                           int least, int most) {
  const json::Value* const value = reader.find(name);
  if (value == nullptr) return std::optional<int>();
  const std::string path = reader.path_of(name);
  if (value->number() == nullptr) return json::wrong_kind(path, "a number", *value);
  const std::string& text = value->number()->text;
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc() && end == text.data() + text.size() && number >= least &&
      number <= most) {
    return std::optional(number);
  }
  return json::field_error(
      path, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace execcred::google

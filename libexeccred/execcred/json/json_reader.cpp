// SPDX-License-Identifier: Apache-2.0
#include <execcred/json/json_reader.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <utility>

namespace execcred::json {
namespace {

std::string element(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

Result<std::vector<std::string>> read_array(const Value& value, const std::string& path,
                                            std::string_view wanted) {
  const Array* items = value.array();
  if (items == nullptr) return wrong_kind(path, wanted, value);
  std::vector<std::string> texts;
  texts.reserve(items->size());
  for (std::size_t i = 0; i < items->size(); ++i) {
    std::string text = TRY(read_string((*items)[i], element(path, i)));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

Error field_error(const std::string& path, std::string_view problem) {
  return Error::configuration((path.empty() ? "the document" : path) + " " + std::string(problem));
}

Error wrong_kind(const std::string& path, std::string_view wanted, const Value& value) {
  return field_error(path, "must be " + std::string(wanted) + ", not " + std::string(value.kind()));
}

Result<std::string> read_string(const Value& value, const std::string& path) {
  const std::string* text = value.string();
  if (text == nullptr) return wrong_kind(path, "a string", value);
  if (has_control_character(*text)) return field_error(path, "has a control character");
  return *text;
}

Result<std::vector<std::string>> read_strings(const Value& value, const std::string& path) {
  if (value.string() == nullptr) return read_array(value, path, "a string or an array of strings");
  std::string text = TRY(read_string(value, path));
  return std::vector<std::string>{std::move(text)};
}

Result<ObjectReader> ObjectReader::open(const Value& value, std::string path, Keys keys) {
  if (value.object() == nullptr) return wrong_kind(path, "an object", value);
  return ObjectReader(value, std::move(path), keys);
}

std::string ObjectReader::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

const Value* ObjectReader::find(std::string_view name) const {
  const std::string folded = keys_ == Keys::ignore_case ? fold_key(name) : std::string();
  for (const Member& member : *value_->object()) {
    const bool found = keys_ == Keys::exact ? member.name == name : fold_key(member.name) == folded;
    if (found) return member.value.is_null() ? nullptr : &member.value;
  }
  return nullptr;
}

Result<std::optional<std::string>> ObjectReader::optional_string(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return std::optional<std::string>();
  std::string text = TRY(read_string(*value, path_of(name)));
  return std::optional(std::move(text));
}

Result<bool> ObjectReader::boolean_or_false(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return false;
  if (value->boolean() == nullptr) return wrong_kind(path_of(name), "true or false", *value);
  return *value->boolean();
}

Result<std::optional<ObjectReader>> ObjectReader::optional_object(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return std::optional<ObjectReader>();
  ObjectReader reader = TRY(open(*value, path_of(name), keys_));
  return std::optional(std::move(reader));
}

Result<std::vector<ObjectReader>> ObjectReader::objects(std::string_view name) const {
  std::vector<ObjectReader> readers;
  const Value* value = find(name);
  if (value == nullptr) return readers;
  const Array* items = value->array();
  if (items == nullptr) return wrong_kind(path_of(name), "an array", *value);
  readers.reserve(items->size());
  for (std::size_t i = 0; i < items->size(); ++i) {
    ObjectReader reader = TRY(open((*items)[i], element(path_of(name), i), keys_));
    readers.push_back(std::move(reader));
  }
  return readers;
}

Result<std::vector<std::string>> ObjectReader::strings(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return std::vector<std::string>();
  return read_array(*value, path_of(name), "an array of strings");
}

Result<std::string> ObjectReader::string_or_empty(std::string_view name) const {
  std::optional<std::string> text = TRY(optional_string(name));
  return std::move(text).value_or("");
}

Result<std::string> ObjectReader::required_string(std::string_view name) const {
  std::optional<std::string> text = TRY(optional_string(name));
  if (!text) return field_error(path_of(name), "is missing");
  if (text->empty()) return field_error(path_of(name), "is empty");
  return *std::move(text);
}

Result<ObjectReader> ObjectReader::required_object(std::string_view name) const {
  std::optional<ObjectReader> reader = TRY(optional_object(name));
  if (!reader) return field_error(path_of(name), "is missing");
  return *std::move(reader);
}

std::string text_or_empty(const Value* value) {
  return value != nullptr && value->string() != nullptr ? *value->string() : std::string();
}

std::string text_or_empty(const Value& object, std::string_view name) {
  return text_or_empty(object.find(name));
}

const Value* find_at(const Value& document, std::initializer_list<std::string_view> path) {
  const Value* value = &document;
  for (const std::string_view name : path) {
    value = value->find(name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

const Value* find_at(const Value& document, std::string_view path) {
  const Value* value = &document;
  for (const std::string_view name : split(path, '.')) {
    value = value->find(name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

}  // namespace execcred::json

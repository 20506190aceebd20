// SPDX-License-Identifier: Apache-2.0
// A table of field readers for an object, which reports its first problem or all of them.
#pragma once

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

using json::ObjectReader;
using Problems = std::vector<Error>;

// A field of T. `read` reads it from its object, and adds its problems.
template <class T>
struct Field {
  std::string_view name;
  void (*read)(const ObjectReader& object, std::string_view name, T& target, Problems& problems);
};

template <class T, std::size_t N>
void read_fields(const std::array<Field<T>, N>& fields, const ObjectReader& object, T& target,
                 Problems& problems) {
  for (const Field<T>& field : fields) field.read(object, field.name, target, problems);
}

template <class T, std::size_t N>
std::vector<std::string_view> names_of(const std::array<Field<T>, N>& fields) {
  std::vector<std::string_view> names;
  names.reserve(N);
  for (const Field<T>& field : fields) names.push_back(field.name);
  return names;
}

template <class T>
void keep(Result<T> read, T& target, Problems& problems) {
  if (read) {
    target = std::move(read).value();
  } else {
    problems.push_back(std::move(read).error());
  }
}

// The reader of a Field that kRead reads into the member kMember. kRead is a function of an object
// and a name, or a member function of ObjectReader.
template <auto kMember, auto kRead, class T>
void read_member(const ObjectReader& object, std::string_view name, T& target, Problems& problems) {
  keep(std::invoke(kRead, object, name), target.*kMember, problems);
}

template <class T>
struct Choice {
  std::string_view name;
  T value;
};

// Reads one of a few words. An absent field and "" mean the first. Fails (configuration) for any
// other value.
template <class T, std::size_t N>
Result<T> read_choice(const ObjectReader& object, std::string_view field,
                      const std::array<Choice<T>, N>& choices) {
  const std::optional<std::string> text = TRY(object.optional_string(field));
  if (!text || text->empty()) return choices.front().value;
  std::vector<std::string> names;
  for (const Choice<T>& choice : choices) {
    if (choice.name == *text) return choice.value;
    if (!choice.name.empty()) names.emplace_back(choice.name);
  }
  Error error = json::field_error(object.path_of(field), "is " + in_quotes(*text));
  error.hint = "it may be " + join(names, " or ");
  return error;
}

// The same as a function for read_member().
template <const auto& kChoices>
auto read_choice_of(const ObjectReader& object, std::string_view field) {
  return read_choice(object, field, kChoices);
}

// The elements of an array; none if the field is absent. A field that is not an array is a problem.
inline const json::Array& elements(const ObjectReader& object, std::string_view field,
                                   std::string_view wanted, Problems& problems) {
  static const json::Array kNone;
  const json::Value* value = object.find(field);
  if (value == nullptr) return kNone;
  if (value->array() != nullptr) return *value->array();
  problems.push_back(json::wrong_kind(object.path_of(field), wanted, *value));
  return kNone;
}

inline std::string element_path(const ObjectReader& object, std::string_view field,
                                std::size_t index) {
  return object.path_of(field) + "[" + std::to_string(index) + "]";
}

// The elements of an array that are objects, with keys in any case as in Go. Any other element is a
// problem.
inline std::vector<ObjectReader> objects(const ObjectReader& object, std::string_view field,
                                         Problems& problems) {
  std::vector<ObjectReader> readers;
  std::size_t index = 0;
  for (const json::Value& element : elements(object, field, "an array", problems)) {
    Result<ObjectReader> reader =
        ObjectReader::open(element, element_path(object, field, index++), json::Keys::ignore_case);
    if (reader) {
      readers.push_back(std::move(reader).value());
    } else {
      problems.push_back(std::move(reader).error());
    }
  }
  return readers;
}

}  // namespace execcred

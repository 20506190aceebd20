// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/form.hpp>

#include <execcred/base/encoding.hpp>

#include <algorithm>

namespace execcred {

void Form::add(std::string_view name, std::string_view value) {
  fields_.push_back({.name = std::string(name), .value = SecretString(value)});
}

void Form::add(std::string_view name, const SecretString& value) {
  fields_.push_back({.name = std::string(name), .value = value.copy(), .is_secret = true});
}

bool Form::has(std::string_view name) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [name](const Field& field) { return field.name == name; });
}

SecretString Form::encoded() const {
  SecretString body;
  for (const Field& field : fields_) {
    if (!body.empty()) body.append("&");
    body.append(form_urlencode(field.name).reveal());
    body.append("=");
    body.append(form_urlencode(field.value.reveal()).reveal());
  }
  return body;
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/form.hpp>

#include <execcred/base/text.hpp>

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

SecretString form_urlencode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kKept = "-._~";
  SecretString encoded;
  char* out = encoded.reserve(3 * text.size());
  std::size_t size = 0;
  for (const char c : text) {
    if (is_alphanumeric(c) || kKept.find(c) != std::string_view::npos) {
      out[size++] = c;
    } else if (c == ' ') {
      out[size++] = '+';
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out[size++] = '%';
      out[size++] = kHex[byte >> 4];
      out[size++] = kHex[byte & 0xf];
    }
  }
  encoded.grow(size);
  return encoded;
}

}  // namespace execcred

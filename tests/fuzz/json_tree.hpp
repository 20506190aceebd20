// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/json/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace execcred::fuzz {

// Whether the tree has a number that no double can hold. execcred's parser keeps it, nlohmann/json
// refuses it, and YAML reads it as text.
inline bool has_huge_number(const json::Value& value) {
  if (const json::Number* number = value.number()) {
    return !std::isfinite(std::strtod(number->text.c_str(), nullptr));
  }
  if (const json::Array* items = value.array()) {
    return std::any_of(items->begin(), items->end(), has_huge_number);
  }
  const json::Object* members = value.object();
  return members != nullptr &&
         std::any_of(members->begin(), members->end(),
                     [](const json::Member& member) { return has_huge_number(member.value); });
}

}  // namespace execcred::fuzz

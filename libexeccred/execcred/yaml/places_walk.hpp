// SPDX-License-Identifier: Apache-2.0
// The places in a text that is known to be well-formed JSON or YAML. `begin` is where it begins in
// the whole text. The first document has the number `document`.
#pragma once

#include <execcred/yaml/places.hpp>

#include <cstddef>
#include <string_view>

namespace execcred {

// Counts as PlacedValue does.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;

  // Moves behind the text, which begins here.
  void pass(std::string_view text);
};

void walk_json(std::string_view text, Position begin, std::size_t document,
               const ReceivePlace& receive);
// A text in YAML begins at the start of a line.
void walk_yaml(std::string_view text, Position begin, std::size_t document,
               const ReceivePlace& receive);

}  // namespace execcred

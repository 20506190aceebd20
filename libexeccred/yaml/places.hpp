// SPDX-License-Identifier: Apache-2.0
// The positions of values in a document's text, for messages with line and column.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace execcred {

struct PlacedValue {
  std::size_t document = 0;  // its number among those of parse_each_document
  std::size_t depth = 0;     // 0 for the document itself
  std::optional<std::string_view> key = std::nullopt;  // in an object
  std::size_t index = 0;                               // in an array
  // From 1; columns are characters. Those of a member are its key's.
  std::size_t line = 1;
  std::size_t column = 1;
};
using ReceivePlace = std::function<void(const PlacedValue&)>;

// Every value of every document that can be read, each before those inside it, in the text's order.
// For an alias, only its own position.
void for_each_place(std::string_view text, std::size_t max_bytes, const ReceivePlace& receive);

}  // namespace execcred

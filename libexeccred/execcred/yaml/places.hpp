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
  // Both count from 1, and columns count characters. The position of a member is that of its key.
  std::size_t line = 1;
  std::size_t column = 1;
};
using ReceivePlace = std::function<void(const PlacedValue&)>;

// Reports every value of every document that can be read, in the order of the text, each value
// before those inside it. For an alias, only its own position is reported.
void for_each_place(std::string_view text, std::size_t max_bytes, const ReceivePlace& receive);

}  // namespace execcred

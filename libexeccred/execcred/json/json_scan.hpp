// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a JSON text without a tree and without recursion, so that a text of any size
// and depth can be divided first, and each part parsed with limits of its own.
//
// Only what is needed to find the ends is read: the caller parses the parts, and the rest of the
// text, to learn whether they are valid. Keys are compared as they are written, with their escapes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace execcred::json {

// The text of the first member of that name in the object that `text` starts with; nullopt if there
// is none. If the text ends within the member, the rest of the text. The view refers to `text`.
std::optional<std::string_view> member_text(std::string_view text, std::string_view name);

// The size of the object or array that `text` starts with; 0 if it starts with none, or with one
// that has no end.
std::size_t container_size(std::string_view text);

// The texts of the elements of the array that `text` is; nullopt if it is no array.
std::optional<std::vector<std::string_view>> element_texts(std::string_view text);

}  // namespace execcred::json

// SPDX-License-Identifier: Apache-2.0
// Shortens text that is shown.
#pragma once

#include <cstddef>
#include <string_view>

namespace execcred {

// The beginning of a text of printable(), at most `limit` bytes, cut between characters and between
// escapes.
std::string_view first_characters(std::string_view text, std::size_t limit);

}  // namespace execcred

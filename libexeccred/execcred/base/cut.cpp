// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/cut.hpp>

namespace execcred {

std::string_view first_characters(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  constexpr std::size_t kEscape = 4;  // "\\x1b"
  const std::size_t escape = text.rfind("\\x", end);
  if (escape != std::string_view::npos && escape < end && escape + kEscape > end) end = escape;
  return text.substr(0, end);
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include "paint.hpp"

#include <execcred/base/environment.hpp>

#include <unistd.h>

#include <optional>

namespace execcred::cli {
namespace {

bool is_for_terminal() {
  const Environment environment = Environment::copy();
  // https://no-color.org: NO_COLOR counts if it is set and not empty.
  const std::optional<std::string_view> no_color = environment.get("NO_COLOR");
  const std::optional<std::string_view> terminal = environment.get("TERM");
  const bool is_unwanted = no_color && !no_color->empty();
  return !is_unwanted && terminal != "dumb" && isatty(STDOUT_FILENO) == 1;
}

std::string_view code_of(Style style) {
  switch (style) {
    case Style::good:
      return "32";
    case Style::notice:
      return "33";
    case Style::bad:
      return "31";
    case Style::faint:
      return "2";
    case Style::plain:
      break;
  }
  return {};
}

}  // namespace

Paint Paint::of(std::string_view choice) {
  return Paint(choice == "always" || (choice == "auto" && is_for_terminal()));
}

std::string Paint::operator()(Style style, std::string_view text) const {
  const std::string_view code = code_of(style);
  if (!is_on_ || code.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace execcred::cli

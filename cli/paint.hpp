// SPDX-License-Identifier: Apache-2.0
// Colours in output for people: on a terminal, or with --color.
#pragma once

#include <string>
#include <string_view>

namespace execcred::cli {

enum class Style { plain, good, notice, bad, faint };

class Paint {
 public:
  Paint() = default;  // no colour
  // `choice` is a value of --color: "always", "never" or "auto". With "auto", the output has
  // colours if standard output is a terminal and the environment has neither NO_COLOR nor
  // TERM=dumb.
  static Paint of(std::string_view choice);

  // The text must not contain control characters.
  std::string operator()(Style style, std::string_view text) const;
  bool is_on() const { return is_on_; }

 private:
  explicit Paint(bool is_on) : is_on_(is_on) {}

  bool is_on_ = false;
};

}  // namespace execcred::cli

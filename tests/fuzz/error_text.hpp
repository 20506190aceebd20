// SPDX-License-Identifier: Apache-2.0
// All that an error tells, for a target that looks for a secret in it.
#pragma once

#include <execcred/base/error.hpp>

#include <string>

namespace execcred::fuzz {

inline std::string text_of(const Error& error) {
  std::string text = error.message + "\n" + error.hint;
  for (const std::string& doing : error.context) text += "\n" + doing;
  return text;
}

}  // namespace execcred::fuzz

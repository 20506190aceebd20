// SPDX-License-Identifier: Apache-2.0
// The variables that every client of Azure reads; an option of ours goes before them.
#pragma once

#include <execcred/environment.hpp>
#include <execcred/result.hpp>

#include <string>
#include <string_view>

namespace execcred::azure {

// The value that `parse` makes of the variable; empty where it is not set.
template <class Parse>
Result<std::string> variable(const Environment& environment, std::string_view name, Parse parse) {
  const auto text = environment.get(name);
  if (!text) return std::string();
  return parse(std::string(*text)).context("reading the variable " + std::string(name));
}

}  // namespace execcred::azure

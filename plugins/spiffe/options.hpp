// SPDX-License-Identifier: Apache-2.0
// The options of execcred-spiffe.
#pragma once

#include <execcred/exec/option_set.hpp>
#include <execcred/spiffe/svid_choice.hpp>

#include <string>
#include <vector>

namespace execcred::spiffe {

enum class SvidType { jwt, x509 };

struct Options {
  SvidType type = SvidType::jwt;
  std::string socket = {};
  std::vector<std::string> audiences = {};
  SvidChoice choice = {};
  bool allow_empty_cn = false;
};

void add_options(OptionSet& set, Options& options);

}  // namespace execcred::spiffe

// SPDX-License-Identifier: Apache-2.0
// A peer's arguments, read by its table as its own parser would: --x=v, --x v, -x v, -xv, and
// Go's -long v.
#pragma once

#include "rule.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::migrate {

struct Given {
  const Rule* rule = nullptr;
  std::string typed;  // the flag, as it was typed: "-i"
  std::string value;  // "true" or "false" for a toggle
};

// What the table cannot read. The subject is a flag's name alone: the rest may be a secret. So may
// an argument that is no flag, which is told by its place.
struct Unread {
  std::string subject;
  std::string why;
};

struct Arguments {
  std::vector<Given> given = {};
  std::vector<Unread> unread = {};
};

// `subcommand` is passed over where it stands.
Arguments read_arguments(const std::vector<std::string>& arguments, std::span<const Rule> flags,
                         const Words& subcommand);

}  // namespace execcred::migrate

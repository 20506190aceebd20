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

// An argument that the table does not know. The subject is only a flag's name, because the rest may
// be a secret. An argument that is no flag may be a secret too, and is named by its position.
struct Unread {
  std::string subject;
  std::string why;
};

struct Arguments {
  std::vector<Given> given = {};
  std::vector<Unread> unread = {};
};

// `subcommand` is skipped.
Arguments read_arguments(const std::vector<std::string>& arguments, std::span<const Rule> flags,
                         const Words& subcommand);

}  // namespace execcred::migrate

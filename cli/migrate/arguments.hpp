// SPDX-License-Identifier: Apache-2.0
// Reads the arguments of a peer (a plugin of another project) by its table of flags, as the peer's
// own parser would: --x=v, --x v, -x v, -xv, Go's -long v, and argparse's abbreviations.
#pragma once

#include "rule.hpp"

#include <string>
#include <vector>

namespace execcred::migrate {

struct Given {
  const Rule* rule = nullptr;
  std::string typed;  // the flag, as it was typed: "-i"
  std::string value;  // "true" or "false" for a toggle
};

// An argument that is not in the table. `subject` is only the name of a flag, because the rest may
// be a secret. An argument that is not a flag may be a secret too, so `subject` is its position.
struct Unread {
  std::string subject;
  std::string why;
};

struct Arguments {
  std::vector<Given> given = {};
  std::vector<Unread> unread = {};
};

// The words of the peer's subcommand are skipped.
Arguments read_arguments(const std::vector<std::string>& arguments, const Peer& peer);

}  // namespace execcred::migrate

// SPDX-License-Identifier: Apache-2.0
// The plugins that clusters are reached with today, and what runs one of them.
#pragma once

#include "migration.hpp"
#include "rule.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace execcred::migrate {

// Of one family each: the rules stand in the file of the same name.
std::vector<Peer> aws_peers();
std::vector<Peer> azure_peers();
std::vector<Peer> google_peers();
std::vector<Peer> oidc_peers();
std::vector<Peer> pinniped_peers();
std::vector<Peer> secret_peers();
std::vector<Peer> spiffe_peers();
std::vector<Peer> token_file_peers();

const std::vector<Peer>& all_peers();

// The peer that is run, by the name of its program and its subcommand; nullptr for any other
// command, ours among them.
const Peer* find_peer(const Invocation& invocation);

}  // namespace execcred::migrate

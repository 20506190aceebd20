// SPDX-License-Identifier: Apache-2.0
// The known plugins of other projects, and how their commands are recognised.
#pragma once

#include "migration.hpp"
#include "rule.hpp"

#include <string>
#include <vector>

namespace execcred::migrate {

// One function for each family: the rules are in the file of the same name.
std::vector<Peer> aws_peers();
std::vector<Peer> azure_peers();
std::vector<Peer> google_peers();
std::vector<Peer> oidc_peers();
std::vector<Peer> other_peers();
std::vector<Peer> pinniped_peers();
std::vector<Peer> secret_peers();
std::vector<Peer> spiffe_peers();
std::vector<Peer> token_file_peers();

const std::vector<Peer>& all_peers();

// The peer that the command runs, by the name of its program and its subcommand. nullptr for any
// other command, including execcred's.
const Peer* find_peer(const Invocation& invocation);

// Any program that no rule replaces, and that execcred-wrap runs unchanged.
const Peer& wrapped_program();

// What replaces the auth-provider of this name, which stays in the user. `has_exec`: the user has
// an exec section too.
Migration auth_provider(const std::string& name, bool has_exec);

}  // namespace execcred::migrate

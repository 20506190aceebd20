// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace execcred::migrate {
namespace {

// "C:\bin\kubelogin.exe" and "/usr/bin/kubelogin" are both kubelogin.
std::string_view program_name(std::string_view command) {
  command.remove_prefix(std::min(command.find_last_of("/\\") + 1, command.size()));
  if (command.ends_with(".exe")) command.remove_suffix(4);
  return command;
}

bool runs(const Peer& peer, const Invocation& invocation) {
  const std::string_view program = program_name(invocation.command);
  if (std::find(peer.programs.begin(), peer.programs.end(), program) == peer.programs.end()) {
    return false;
  }
  // The words must be in this order, with any flags between them.
  auto word = peer.subcommand.begin();
  for (const std::string& argument : invocation.args) {
    if (word != peer.subcommand.end() && argument == *word) ++word;
  }
  if (word != peer.subcommand.end()) return false;
  return peer.matches == nullptr || peer.matches(invocation);
}

}  // namespace

const std::vector<Peer>& all_peers() {
  static const std::vector<Peer> kPeers = [] {
    std::vector<Peer> all;
    // oidc comes before azure: both have a kubelogin, and that of oidc is recognised by its flags.
    for (std::vector<Peer> (*const family)() :
         {aws_peers, oidc_peers, azure_peers, google_peers, pinniped_peers, secret_peers,
          spiffe_peers, token_file_peers, other_peers}) {
      std::vector<Peer> some = family();
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
  }();
  return kPeers;
}

const Peer& wrapped_program() {
  static const Peer kProgram = {.name = "a program without a rule",
                                .programs = {},
                                .plugin = "execcred-wrap",
                                .is_good_at_many_servers = true};
  return kProgram;
}

const Peer* find_peer(const Invocation& invocation) {
  const std::vector<Peer>& peers = all_peers();
  const auto found = std::find_if(peers.begin(), peers.end(), [&invocation](const Peer& peer) {
    return runs(peer, invocation);
  });
  return found == peers.end() ? nullptr : &*found;
}

}  // namespace execcred::migrate

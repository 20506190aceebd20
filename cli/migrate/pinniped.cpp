// SPDX-License-Identifier: Apache-2.0
// pinniped login static: a token from a variable, exchanged at the cluster's Concierge.
#include "peers.hpp"

#include <array>
#include <string>

namespace execcred::migrate {
namespace {

constexpr std::string_view kSecret =
    "a secret on the command line; put it into a variable, for --token-env, or into a file, for "
    "--subject-token-file";

constexpr std::array kFlags = std::to_array<Rule>({
    refuse("token", kSecret),
    ask("token-env"),
    ask("enable-concierge").as_toggle(),
    ask("concierge-authenticator-type"),
    ask("concierge-authenticator-name"),
    ask("concierge-api-group-suffix"),
    ask("concierge-endpoint"),
    ask("concierge-ca-bundle-data"),
    drop("concierge-namespace", "pinniped no longer uses it"),
    drop("credential-cache", "execcred-oidc-federation keeps a cache of its own (--cache-dir)"),
});

constexpr std::array kVariables =
    std::to_array<Rule>({drop("PINNIPED_DEBUG", "logging; execcred's plugins have --debug")});

constexpr std::array<std::string_view, 4> kConcierge = {
    "concierge-authenticator-type", "concierge-authenticator-name", "concierge-api-group-suffix",
    "concierge-endpoint"};

void carry_concierge(Migration& migration) {
  migration.keep("--enable-concierge", "--flow", "pinniped");
  for (const std::string_view name : kConcierge) {
    const std::string option = "--" + std::string(name);
    if (!migration.flag(name).empty()) migration.keep(option, option, migration.flag(name));
  }
  if (migration.flag("concierge-ca-bundle-data").empty()) return;
  migration.refuse("--concierge-ca-bundle-data",
                   "put the CA into a file, remove the flag, and add --concierge-ca-file=PATH "
                   "to the migrated entry");
}

void pass_through(Migration& migration) {
  migration.add("--flow", "pass-through", "the Concierge is not enabled");
  for (const std::string_view name : kConcierge) {
    migration.drop_flag(name, "the Concierge is not enabled");
  }
  migration.drop_flag("concierge-ca-bundle-data", "the Concierge is not enabled");
  migration.note("the token must be a JWT; for another, use execcred-token-file");
}

void finish(Migration& migration) {
  const std::string name = migration.flag("token-env");
  if (migration.is_on("enable-concierge")) {
    carry_concierge(migration);
  } else {
    pass_through(migration);
  }
  if (name.empty()) {
    if (migration.is_complete()) migration.refuse("--token-env", "it is missing");
    return;
  }
  migration.keep("--token-env", "--subject-token-env", name);
}

}  // namespace

std::vector<Peer> pinniped_peers() {
  return {{.name = "pinniped login static",
           .programs = {"pinniped"},
           .subcommand = {"login", "static"},
           .plugin = "execcred-oidc-federation",
           .flags = kFlags,
           .variables = kVariables,
           .names_variable = "token-env",
           .is_good_at_many_servers = true,
           .finish = finish},
          {.name = "pinniped login oidc",
           .programs = {"pinniped"},
           .subcommand = {"login", "oidc"},
           .plugin = "execcred-oidc-federation",
           .never = "an interactive login, for which pinniped is made"}};
}

}  // namespace execcred::migrate

// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

namespace execcred::cli {

void add_commands(CommandLine& line) {
  line.add("get", "Run the plugin of a ClusterProfile and print the credential.", make_get());
  line.add("resolve", "Show what would run for each ClusterProfile, and why.", make_resolve());
  line.add("kubeconfig", "Write one kubeconfig for a whole inventory.", make_kubeconfig());
  line.add("doctor", "Report why a cluster does not work, and what will stop working soon.",
           make_doctor());
  line.add("explain", "Explain a cause that doctor names, an exit code or a message.",
           make_explain());
  line.add("grant", "Print what each cluster must be told to accept a plugin's user.",
           make_grant());
  line.add("init", "Write the mapping and manifests that a hub's ClusterProfiles need.",
           make_init());
  line.add("lint", "Report every problem of mappings, ClusterProfiles and kubeconfigs.",
           make_lint());
  line.add("migrate", "Rewrite other plugins' exec entries to execcred's plugins.", make_migrate());
  line.add("sync", "Write credentials for programs that run no plugin, and renew them.",
           make_sync());
  line.add("cache", "Show what plugins keep in their cache, or remove it.", make_cache());
  line.add("install", "Copy the plugins into a directory, as an init container does.",
           make_install());
  line.add("completion", "Print a script that completes commands in a shell.", make_completion());
  line.add("version", "Print name and version.", make_version());
  line.add("__complete", "Print candidates for the completion script.", make_complete(line));
  line.add("help", "Explain a command.", make_help(line));
}

}  // namespace execcred::cli

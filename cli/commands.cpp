// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

namespace execcred::cli {

Commands::Commands() {
  line_.add("get", "Run the plugin of a ClusterProfile and print the credential.", get_);
  line_.add("resolve", "Show what would run for each ClusterProfile, and why.", resolve_);
  line_.add("kubeconfig", "Write one kubeconfig for a whole inventory.", kubeconfig_);
  line_.add("doctor", "Report why a cluster does not work, and what will stop working soon.",
            doctor_);
  line_.add("explain", "Explain a cause that doctor names, an exit code or a message.", explain_);
  line_.add("grant", "Print what each cluster must be told to accept a plugin's user.", grant_);
  line_.add("init", "Write the mapping and manifests that a hub's ClusterProfiles need.", init_);
  line_.add("lint", "Report every problem of mappings, ClusterProfiles and kubeconfigs.", lint_);
  line_.add("migrate", "Rewrite other plugins' exec entries to execcred's plugins.", migrate_);
  line_.add("sync", "Write credentials for programs that run no plugin, and renew them.", sync_);
  line_.add("cache", "Show what plugins keep in their cache, or remove it.", cache_);
  line_.add("install", "Copy the plugins into a directory, as an init container does.", install_);
  line_.add("completion", "Print a script that completes commands in a shell.", completion_);
  line_.add("version", "Print name and version.", version_);
  line_.add("__complete", "Print candidates for the completion script.", complete_);
  line_.add("help", "Explain a command.", help_);
}

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// Who may be given a credential: the controller's rules about a cluster that a ClusterProfile's
// writer described.
//
// That writer chooses server, proxy, CA and audience. Without a rule a credential goes to any
// https server, as with every other exec plugin. These rules close that, and they come from the
// controller's side alone (flags of the mapping file, environment).
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/url_pattern.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct AccessRules {
  std::vector<UrlPattern> allow_server = {};  // empty: any https server
  std::vector<UrlPattern> allow_proxy = {};
  std::vector<AudiencePattern> allow_audience = {};
  std::filesystem::path server_ca_file = {};  // empty: any CA
};

// Fails with no_credential where a rule refuses the cluster, with configuration where a rule
// needs cluster information that is missing or malformed, or the CA file cannot be read.
Status check_cluster(const AccessRules& rules, const ExecInfo& info);

// For a credential that is bound to its server: what would lead its bearer elsewhere. A proxy-url
// must match --allow-proxy, and insecure-skip-tls-verify may not be set unless `allow_insecure`.
// `who` demands it, for the message. Fails with no_credential.
Status check_connection(const AccessRules& rules, const Cluster& cluster, std::string_view who,
                        bool allow_insecure);

// Whether a client verifies the server's certificate for the same host with either tls-server-name;
// an empty one means the server's own host.
bool is_same_verified_host(std::string_view server, std::string_view a, std::string_view b);

// `field` names it in errors. Fails with configuration (no URL at all, or none that is sure to
// mean one host), or no_credential (not https: no client runs a plugin for it).
Status check_server_is_https(std::string_view server, std::string_view field);

// For an audience that came from the ClusterProfile, and a plugin that mints tokens with it.
// Without any pattern: configuration; with none that matches: no_credential.
Status check_audience(const AccessRules& rules, std::string_view audience, const ExecInfo& info);

// The error (configuration) of everything that needs spec.cluster and has none.
Error missing_cluster_info(std::string_view who);

}  // namespace execcred

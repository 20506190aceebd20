// SPDX-License-Identifier: Apache-2.0
// Which cluster may get a credential: the controller's rules for a cluster that the writer of a
// ClusterProfile describes.
//
// That writer chooses server, proxy, CA and audience. Without a rule a credential goes to any https
// server, as with every other exec plugin. These rules restrict that. They come only from the
// controller's side (flags of the mapping file, environment).
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

// `named_by` says what ties the credential to the server by its name alone (Binding::named_server);
// empty if nothing does. Fails with no_credential and by rule (Error::is_by_rule) if a rule refuses
// the cluster, also because its server, proxy or CA data is malformed; with configuration if the
// client sent no cluster that a rule needs, if the server is malformed and no rule is about it, or
// if the CA file cannot be read (unavailable if that may pass).
Status check_cluster(const AccessRules& rules, const ExecInfo& info,
                     std::string_view named_by = {});

// For a credential that is bound to its server: refuses settings that would send it elsewhere. A
// proxy-url must match --allow-proxy, and insecure-skip-tls-verify needs `allow_insecure`. `who`
// names the reason in the message. Fails with no_credential.
Status check_connection(const AccessRules& rules, const Cluster& cluster, std::string_view who,
                        bool allow_insecure);

// Whether a client verifies the server's certificate for the same host with `a` as with `b` as its
// tls-server-name. An empty name means the server's own host.
bool is_same_verified_host(std::string_view server, std::string_view a, std::string_view b);

// `field` names the server in errors. Fails with configuration (no URL, or one that may mean
// several hosts), or no_credential (not https: no client runs a plugin for it).
Status check_server_is_https(std::string_view server, std::string_view field);

// Checks an audience that came from the ClusterProfile, for a plugin that mints tokens with it.
// Fails with configuration if there is no pattern, or if "server" cannot be compared because the
// client sent no cluster; with no_credential if no pattern matches.
Status check_audience(const AccessRules& rules, std::string_view audience, const ExecInfo& info);

// The error (configuration) if `who` needs spec.cluster, and the client sent none.
Error missing_cluster_info(std::string_view who);

// Completes the error of a missing value that a ClusterProfile could have set. Its hint has the
// other remedies. The first one becomes that the client sends the cluster's information.
Error lacks_cluster_info(Error error);

}  // namespace execcred

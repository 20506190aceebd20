// SPDX-License-Identifier: Apache-2.0
// Argo CD's conventions: the placeholders in a plugin's arguments, and the Secret that declares a
// cluster (Argo CD's operator manual, "Declarative Setup").
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/exec/cluster.hpp>
#include <execcred/json/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// The two placeholders that Argo CD's ClusterProfile controller replaces, in exactly this spelling.
// No other consumer of a mapping replaces them, and plugins refuse a placeholder that was not
// replaced.
inline constexpr std::string_view kArgocdName = "{{ .ClusterProfileName }}";
inline constexpr std::string_view kArgocdServer = "{{ .ClusterProfileServer }}";

bool has_argocd_placeholder(std::string_view argument);

// Replaces the placeholders. `name` is the ClusterProfile's metadata.name, without its namespace.
// Placeholders in the inserted text are not replaced.
std::string fill_argocd_placeholders(std::string_view argument, std::string_view name,
                                     std::string_view server);
std::vector<std::string> fill_argocd_placeholders(std::vector<std::string> arguments,
                                                  std::string_view name, std::string_view server);

// The label by which Argo CD finds a cluster's Secret.
inline constexpr std::string_view kArgocdLabel = "argocd.argoproj.io/secret-type";
inline constexpr std::string_view kArgocdLabelValue = "cluster";

// Fails (configuration) if Argo CD takes the server for its own cluster, where it uses its own
// service account. `consequence` ends the message: "runs no plugin for it".
Status check_argocd_server(std::string_view server, std::string_view consequence);

// The value of the Secret's key "config": `config` has the members that say how Argo CD
// authenticates, and `tls` those of tlsClientConfig that belong to a credential.
json::Value argocd_config(const Cluster& cluster, json::Value config,
                          std::vector<json::Member> tls = {});

}  // namespace execcred::cli

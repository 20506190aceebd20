// SPDX-License-Identifier: Apache-2.0
// Options whose value depends on the cluster: "/var/run/tokens/{clusterName}/token".
//
//   {clusterName}  --cluster, else spec.cluster.config.clusterName
//   {server.host}  the host of spec.cluster.server
//
// An inserted value must be an RFC 1123 subdomain, so it cannot leave its path segment, or add one.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <string>
#include <string_view>

namespace execcred {

// `cluster_name` is empty where none is known. Fails (configuration): an unknown placeholder, a
// stray brace, a value that is missing or no such name.
Result<std::string> expand_template(std::string_view text, std::string_view cluster_name,
                                    const ExecInfo& info);

// Whether it can be expanded only where the client sends spec.cluster.
bool needs_cluster_info(std::string_view text, bool has_cluster_name);

// Whether a template of Go's, "{{ .ClusterProfileName }}", stands in the text: no name looks like
// this, so the program that should have expanded it did not.
bool has_unexpanded_template(std::string_view text);

}  // namespace execcred

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
#include <execcred/exec/option_set.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// The value of {config.FIELD}, for a program's arguments.
using FieldValue = std::function<Result<std::string>(std::string_view field)>;

// `cluster_name` is empty if none is known. Fails (configuration) for an unknown placeholder, for a
// stray brace, and for a value that is missing or not an RFC 1123 subdomain. With `field_value`,
// {config.FIELD} is a placeholder too, whose value is not checked here, and a brace that is written
// twice is a brace.
Result<std::string> expand_template(std::string_view text, std::string_view cluster_name,
                                    const ExecInfo& info, const FieldValue& field_value = {});

// The placeholders of a program's argument, such as "clusterName" and "config.region". Empty after
// what expand_template() refuses.
std::vector<std::string_view> placeholders_in(std::string_view argument);

inline constexpr std::string_view kServerHost = "{server.host}";
// Whether the option's value has the placeholder {server.host}.
bool names_server(const Option& option, const std::string& value);

// Whether the option's value has a placeholder of the cluster, which the client must send.
// {config.FIELD} is not looked for.
bool needs_cluster_info(const Option& option, const std::string& value, bool has_cluster_name);

// Whether the text contains a template of Go, such as "{{ .ClusterProfileName }}". No name looks
// like this, so the program that should have expanded it did not. Braces in fours are not meant:
// they stand for the two that a program gets.
bool has_unexpanded_template(std::string_view text);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// The two placeholders that Argo CD's ClusterProfile controller replaces in a plugin's arguments:
// "{{ .ClusterProfileName }}" and "{{ .ClusterProfileServer }}", in exactly this spelling. No other
// consumer of a mapping replaces them, and plugins refuse a placeholder that was not replaced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

inline constexpr std::string_view kArgocdName = "{{ .ClusterProfileName }}";
inline constexpr std::string_view kArgocdServer = "{{ .ClusterProfileServer }}";

bool has_argocd_placeholder(std::string_view argument);

// Replaces the placeholders. `name` is the ClusterProfile's metadata.name, without its namespace.
// Placeholders in the inserted text are not replaced.
std::string fill_argocd_placeholders(std::string_view argument, std::string_view name,
                                     std::string_view server);
std::vector<std::string> fill_argocd_placeholders(std::vector<std::string> arguments,
                                                  std::string_view name, std::string_view server);

}  // namespace execcred::cli

// SPDX-License-Identifier: Apache-2.0
// What a mapping for execcred-static-secret leaves open, or says in vain. Who may write a
// ClusterProfile chooses the Secret, within one namespace, and the server: what binds the two is
// either in the Secret or in the mapping.
#pragma once

#include "lint_options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace execcred::lint {

// Options whose reading needs spec.cluster, besides templates.
std::vector<std::string> needs_of_static_secret(const ExecConfig& exec,
                                                const PluginOptions& options);

// Why a token may reach a server that it is not meant for; empty where something binds it.
std::string_view reach_of_static_secret(const ExecConfig& exec, const PluginOptions& options);

void check_static_secret(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                         const std::string& path);

}  // namespace execcred::lint

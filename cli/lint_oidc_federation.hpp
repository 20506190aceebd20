// SPDX-License-Identifier: Apache-2.0
// What a mapping for execcred-oidc-federation leaves open: to whom its tokens and the subject's
// go, and what of it is readable by others. What cannot work, the plugin's own checks tell.
#pragma once

#include "lint_options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace execcred::lint {

// Options that need spec.cluster.
std::vector<std::string> needs_of_oidc_federation(const ExecConfig& exec,
                                                  const PluginOptions& options);

// Why a token may reach a server that it is not meant for; empty where something binds it.
std::string_view reach_of_oidc_federation(const ExecConfig& exec, const PluginOptions& options);

void check_oidc_federation(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                           const std::string& path);

}  // namespace execcred::lint

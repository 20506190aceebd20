// SPDX-License-Identifier: Apache-2.0
// What a mapping for a cloud's plugin lets its credentials do, besides what every plugin's does.
#pragma once

#include "lint_options.hpp"

#include <string>

namespace execcred::lint {

// What a credentials file may then do is meant, or it is not: for information.
void check_google(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                  const std::string& path);

}  // namespace execcred::lint

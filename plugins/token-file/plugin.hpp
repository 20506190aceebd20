// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::token_file {

// execcred-token-file.
PluginDefinition plugin();

}  // namespace execcred::token_file

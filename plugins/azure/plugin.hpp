// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::azure {

// execcred-azure.
PluginDefinition plugin();

}  // namespace execcred::azure

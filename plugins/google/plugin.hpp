// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::google {

// execcred-google.
PluginDefinition plugin();

}  // namespace execcred::google

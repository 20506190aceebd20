// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::spiffe {

// execcred-spiffe.
PluginDefinition plugin();

}  // namespace execcred::spiffe

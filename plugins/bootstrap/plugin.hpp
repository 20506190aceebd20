// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::bootstrap {

// execcred-bootstrap.
PluginDefinition plugin();

}  // namespace execcred::bootstrap

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::wrap {

// execcred-wrap.
PluginDefinition plugin();

}  // namespace execcred::wrap

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::static_secret {

// execcred-static-secret.
PluginDefinition plugin();

}  // namespace execcred::static_secret

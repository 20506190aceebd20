// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::oidc_federation {

// execcred-oidc-federation.
PluginDefinition plugin();

}  // namespace execcred::oidc_federation

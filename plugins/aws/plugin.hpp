// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::aws {

// execcred-aws.
PluginDefinition plugin();

}  // namespace execcred::aws

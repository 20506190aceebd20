// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::made_up {

// execcred-made-up, an example of a new plugin, for made_up_test.py. No release has it.
PluginDefinition plugin();

}  // namespace execcred::made_up

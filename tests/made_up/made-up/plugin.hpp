// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/exec/plugin_main.hpp>

namespace execcred::made_up {

// execcred-made-up, which no release has: what a plugin is when it is new (made_up_test.py).
PluginDefinition plugin();

}  // namespace execcred::made_up

// SPDX-License-Identifier: Apache-2.0
// Every plugin that there is.
#pragma once

#include <execcred/exec/plugin_main.hpp>

#include <span>

namespace execcred {

// All plugins, in the order in which they are listed for people.
std::span<const PluginDefinition> all_plugins();

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// For the published suite: its machine has no execcred plugin.
#include "plugin_under_test.hpp"

namespace blackbox {

std::string default_plugin() { return {}; }

}  // namespace blackbox

// SPDX-License-Identifier: Apache-2.0
// For the published suite, which runs on machines without execcred's plugins.
#include "plugin_under_test.hpp"

namespace blackbox {

std::string default_plugin() { return {}; }

}  // namespace blackbox

// SPDX-License-Identifier: Apache-2.0
// Of the suite that is published: it is on a machine that has no plugin of ours.
#include "plugin_under_test.hpp"

namespace blackbox {

std::string default_plugin() { return {}; }

}  // namespace blackbox

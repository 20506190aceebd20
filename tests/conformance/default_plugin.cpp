// SPDX-License-Identifier: Apache-2.0
#include "plugin_under_test.hpp"
#include "test_paths.hpp"

namespace blackbox {

std::string default_plugin() { return EXECCRED_BIN "/execcred-token-file"; }

}  // namespace blackbox

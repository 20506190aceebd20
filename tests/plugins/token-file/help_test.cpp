// SPDX-License-Identifier: Apache-2.0
// The examples of execcred-token-file --help.
#include "support/plugin_rig.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("help: the examples work") {
  const blackbox::Sandbox folder;
  folder.write("token", new_secret());
  check_examples("execcred-token-file", folder, {});
}

}  // namespace execcred::test

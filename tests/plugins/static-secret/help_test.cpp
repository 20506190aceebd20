// SPDX-License-Identifier: Apache-2.0
// The examples of execcred-static-secret --help.
#include "plugin.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("help: the examples work") {
  Plugin plugin;
  plugin.hub.add({.name = "spoke-1", .data = {{"token", new_token()}}});
  plugin.sandbox.write("secret/token", new_token());
  check_examples("execcred-static-secret", plugin.sandbox,
                 {"KUBECONFIG=" + plugin.sandbox.at("hub.kubeconfig")});
}

}  // namespace execcred::test

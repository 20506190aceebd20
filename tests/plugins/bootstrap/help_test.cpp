// SPDX-License-Identifier: Apache-2.0
// The examples of execcred-bootstrap --help.
#include "bootstrap.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("help: the examples work") {
  const Bootstrap rig;
  const std::string authority = blackbox::base64(rig.api.server.ca_pem());
  check_examples(
      "execcred-bootstrap", rig.sandbox,
      Texts{"EXECCRED_CREDENTIAL=" + command_json({rig.inner_path}),
            "EXECCRED_ALLOW_SERVER=https://127.0.0.1:*", "EXECCRED_CACHE_DIR=" + rig.cache_path} +
          asked_for(rig.api.server.url(), "",
                    R"(,"certificate-authority-data":")" + authority + "\""));
}

}  // namespace execcred::test

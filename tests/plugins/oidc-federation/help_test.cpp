// SPDX-License-Identifier: Apache-2.0
// The examples of execcred-oidc-federation --help.
#include "federation.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("help: the examples work") {
  Federation federation;
  federation.sandbox.write("token", new_jwt(R"("sub":"a","aud":["kubernetes"])", 3600));
  check_examples("execcred-oidc-federation", federation.sandbox,
                 {"ISSUER=" + federation.idp.issuer(), "EXECCRED_CA_FILE=" + federation.ca_path,
                  "EXECCRED_CACHE_DIR=" + federation.cache_path});
}

}  // namespace execcred::test

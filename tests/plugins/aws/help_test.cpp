// SPDX-License-Identifier: Apache-2.0
// The examples of execcred-aws --help.
#include "rig.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("help: the examples work") {
  const Rig rig;
  check_examples("execcred-aws", rig.sandbox,
                 {"AWS_REGION=us-west-2", std::string("AWS_ACCESS_KEY_ID=") + kKeyId,
                  "AWS_SECRET_ACCESS_KEY=" + rig.secret, "AWS_ENDPOINT_URL_STS=" + rig.sts.url(),
                  "AWS_CA_BUNDLE=" + rig.ca_path, "EXECCRED_CACHE_DIR=" + rig.cache_path});
}

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// The examples of execcred-azure --help.
#include "cloud.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("help: the examples work") {
  const Cloud cloud;
  check_examples(
      "execcred-azure", cloud.sandbox,
      cloud.workload_variables() + cloud.imds_variables() +
          Texts{"EXECCRED_CA_FILE=" + cloud.ca_path, "EXECCRED_CACHE_DIR=" + cloud.cache_path});
}

}  // namespace execcred::test

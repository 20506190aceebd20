// SPDX-License-Identifier: Apache-2.0
// The examples of execcred-google --help.
#include "google.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("help: the examples work") {
  const Google google;
  check_examples("execcred-google", google.sandbox,
                 {"GOOGLE_APPLICATION_CREDENTIALS=" +
                      google.sandbox.write("credentials.json", object(google.file_account())),
                  "HTTPS_PROXY=" + google.cloud.proxy(), "EXECCRED_CA_FILE=" + google.ca_path,
                  "EXECCRED_CACHE_DIR=" + google.cache_path});
}

}  // namespace execcred::test

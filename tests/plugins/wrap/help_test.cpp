// SPDX-License-Identifier: Apache-2.0
// The examples of execcred-wrap --help.
#include "wrap.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("help: the examples work") {
  const Wrap rig;
  rig.set_output(rig.token);
  check_examples(
      "execcred-wrap", rig.sandbox,
      {"EXECCRED_COMMAND=" + command_json({rig.program}), "EXECCRED_CACHE_DIR=" + rig.cache_path});
}

}  // namespace execcred::test

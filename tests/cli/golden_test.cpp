// SPDX-License-Identifier: Apache-2.0
// Help texts, messages and outputs, byte for byte. tests/golden/README.md describes how to change
// them on purpose.
#include "build_kind.hpp"
#include "golden_case.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>

using namespace blackbox;

namespace {

const std::string kRefresh = "BLACKBOX_REFRESH_GOLDEN";

bool is_set(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  return value != nullptr && std::string_view(value) != "";
}

}  // namespace

TEST_SUITE_BEGIN("golden");

TEST_CASE("the output of every golden case is the same as its golden files") {
  const bool is_refreshed = is_set(kRefresh);
  if (is_refreshed && is_set("CI")) FAIL(kRefresh << " is for people, not for CI");
  const std::vector<GoldenCase> cases = golden_cases();
  CHECK(cases.size() >= 40);
  for (const GoldenCase& golden : cases) {
    CAPTURE(golden.name());
    if (golden.name() == "execcred/get-plugin-missing" && !kSaysWhyNotStarted) continue;
    const Said said = golden.run();
    const Said expected = golden.expected();
    const bool is_same = said.output == expected.output && said.exit == expected.exit &&
                         said.error_output == expected.error_output;
    if (is_refreshed) {
      golden.refresh(said);
      if (!is_same) MESSAGE("refreshed " << golden.name());
      continue;
    }
    CHECK(said.exit == expected.exit);
    CHECK(said.output == expected.output);
    CHECK(said.error_output == expected.error_output);
  }
}

TEST_SUITE_END();

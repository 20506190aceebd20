// SPDX-License-Identifier: Apache-2.0
// One folder tests/golden/PROGRAM/CASE: what a program is given, and all that it says. The form
// is described in tests/golden/README.md.
#pragma once

#include "child_process.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace blackbox {

struct Said {
  std::string output;
  std::string error_output;
  std::string exit;
};

class GoldenCase {
 public:
  explicit GoldenCase(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // "PROGRAM/CASE".
  std::string name() const;
  Said expected() const;
  // Runs the program in a folder of its own. What differs from run to run is normalised.
  Said run() const;
  // Makes what was said the expected.
  void refresh(const Said& said) const;

 private:
  std::filesystem::path folder_;
};

// All of them, in the order of their names.
std::vector<GoldenCase> golden_cases();

}  // namespace blackbox

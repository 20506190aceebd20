// SPDX-License-Identifier: Apache-2.0
// One folder tests/golden/PROGRAM/CASE: the input of a program, and its expected output.
// tests/golden/README.md describes the format.
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
  // Runs the program in a folder of its own. Values that differ from run to run are normalised.
  Said run() const;
  // Writes this output as the expected one.
  void refresh(const Said& said) const;

 private:
  std::filesystem::path folder_;
};

// All cases, in the order of their names.
std::vector<GoldenCase> golden_cases();

}  // namespace blackbox

// SPDX-License-Identifier: Apache-2.0
// A plugin that records its arguments and its environment, byte for byte, and prints a credential.
#pragma once

#include "inventory.hpp"
#include "sandbox.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

class Recorder {
 public:
  Recorder();

  const std::string& command() const { return command_; }
  // The values of the last run, in their order.
  std::vector<std::string> arguments() const;
  std::vector<std::string> environment() const;
  // The variable's values, in the order of the environment.
  std::vector<std::string> values_of(std::string_view name) const;
  std::string standard_input() const;
  std::string working_directory() const;

 private:
  Sandbox sandbox_;
  std::string command_;
};

// Runs the recorder for one provider "p" of one ClusterProfile. `more_of_exec` and `more` go into
// its mapping entry, `more_of_cluster` into the ClusterProfile.
Outcome record(const Recorder& recorder, std::string_view more_of_exec, std::string_view more,
               std::string_view more_of_cluster, std::vector<std::string> environment = {});

}  // namespace blackbox

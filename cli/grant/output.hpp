// SPDX-License-Identifier: Apache-2.0
// The output formats of execcred grant.
#pragma once

#include "catalogue.hpp"

#include <execcred/engine/report.hpp>

#include <string>
#include <vector>

namespace execcred::grant {

struct Item {
  engine::Item examined = {};
  std::string server = {};
  // Empty if the identity is not known; `examined` then has the reason. The first one is to be
  // applied. A second one is another reading of the same credential.
  std::vector<Grant> readings = {};
};

// One YAML document for each cluster, for kubectl apply: a List. What is no Kubernetes object
// stands in comments.
std::string write_yaml(const std::vector<Item>& items);
// Explains, for people. The objects are at the end of each cluster's text.
std::string write_text(const std::vector<Item>& items);
std::string write_json(const std::vector<Item>& items);

}  // namespace execcred::grant

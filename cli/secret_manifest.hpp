// SPDX-License-Identifier: Apache-2.0
// A Secret (core/v1) as a manifest for kubectl apply that people can read too.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace execcred::cli {

struct SecretManifest {
  std::vector<std::string> comments = {};  // above it, a line each
  std::string name_space = {};
  std::string name = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  std::map<std::string, std::string> data = {};  // stringData
};

// The manifest as YAML.
std::string to_text(const SecretManifest& manifest);

}  // namespace execcred::cli

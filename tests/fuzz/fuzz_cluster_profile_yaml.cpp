// SPDX-License-Identifier: Apache-2.0
// ClusterProfiles in YAML: accepted ones have DNS names and each provider once, and the documents
// written as JSON are the same profiles.
#include "fuzz.hpp"
#include "inventory.hpp"

#include <execcred/yaml/documents.hpp>

#include <string>
#include <vector>

namespace execcred::fuzz {

void check(std::string_view input) {
  const Result<std::vector<ClusterProfile>> profiles = parse_cluster_profiles(input);
  if (!profiles) {
    require(profiles.error().kind == Error::Kind::configuration, "a bad one is configuration");
    return;
  }
  for (const ClusterProfile& profile : *profiles) check_profile(profile);

  json::Array documents;
  for (Result<Document>& document : parse_each_document(input, kMaxInventory)) {
    require(document.has_value(), "profiles come from documents");
    documents.push_back(std::move(document->value));
  }
  std::string as_json;
  for (const json::Value& document : documents) json::write(document, as_json);
  const Result<std::vector<ClusterProfile>> again = parse_cluster_profiles(as_json);
  require(again && is_same(*again, *profiles), "JSON means the same profiles");
}

}  // namespace execcred::fuzz

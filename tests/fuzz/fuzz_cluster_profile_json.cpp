// SPDX-License-Identifier: Apache-2.0
// ClusterProfiles in JSON: accepted ones have DNS names and each provider once, and are the same in
// every layout of the documents.
#include "fuzz.hpp"
#include "inventory.hpp"

#include <execcred/yaml/documents.hpp>

#include <string>
#include <vector>

namespace execcred::fuzz {

void check(std::string_view input) {
  if (!input.starts_with('{')) return;
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
  std::string compact;
  std::string laid_out;
  json::Value list((json::Object()));
  list.add("kind", json::Value("List"));
  list.add("apiVersion", json::Value("v1"));
  list.add("items", json::Value(documents));
  for (const json::Value& document : documents) {
    json::write(document, compact);
    laid_out += json::to_indented_text(document) + "---\n";
  }
  const Result<std::vector<ClusterProfile>> from_compact = parse_cluster_profiles(compact);
  require(from_compact && is_same(*from_compact, *profiles), "the same without white space");
  const Result<std::vector<ClusterProfile>> from_laid_out = parse_cluster_profiles(laid_out);
  require(from_laid_out && is_same(*from_laid_out, *profiles), "the same over many lines");
  // The list adds levels, so the text may be too deep.
  const Result<std::vector<ClusterProfile>> from_list = parse_cluster_profiles(json::to_text(list));
  require(!from_list || is_same(*from_list, *profiles), "the same in a list");
}

}  // namespace execcred::fuzz

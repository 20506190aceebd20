// SPDX-License-Identifier: Apache-2.0
#include <execcred/cluster_profile.hpp>
#include <execcred/documents.hpp>
#include <execcred/json_reader.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace execcred {
namespace {

using json::ObjectReader;
using json::Value;

constexpr std::string_view kGroup = "multicluster.x-k8s.io/";

bool lists(const std::vector<AccessProvider>& providers, std::string_view name) {
  return std::any_of(providers.begin(), providers.end(),
                     [name](const AccessProvider& provider) { return provider.name == name; });
}

Result<std::vector<AccessProvider>> read_providers(const ObjectReader& status,
                                                   std::string_view field) {
  TRY_ASSIGN(const std::vector<ObjectReader> entries, status.objects(field));
  std::vector<AccessProvider> providers;
  for (const ObjectReader& entry : entries) {
    TRY_ASSIGN(std::string name, entry.required_string("name"));
    if (lists(providers, name)) {
      return json::field_error(entry.path_of("name"),
                               "is " + in_quotes(name) + ", like that of an entry before it");
    }
    const Value* cluster = entry.find("cluster");
    providers.push_back({.name = std::move(name),
                         .path = entry.path(),
                         .cluster = cluster == nullptr ? Value() : *cluster});
  }
  return providers;
}

Status read_names(const ObjectReader& document, ClusterProfile& profile) {
  TRY_ASSIGN(const ObjectReader metadata, document.required_object("metadata"));
  TRY_ASSIGN(profile.name, metadata.required_string("name"));
  if (!is_dns1123_subdomain(profile.name)) {
    return json::field_error("metadata.name",
                             in_quotes(profile.name) + " is no DNS-1123 subdomain");
  }
  TRY_ASSIGN(std::optional<std::string> name_space, metadata.optional_string("namespace"));
  profile.name_space = std::move(name_space).value_or("");
  if (profile.name_space.empty() || is_dns1123_label(profile.name_space)) return {};
  return json::field_error("metadata.namespace",
                           in_quotes(profile.name_space) + " is no DNS-1123 label");
}

Status read_status(const ObjectReader& document, ClusterProfile& profile) {
  TRY_ASSIGN(const std::optional<ObjectReader> status, document.optional_object("status"));
  if (!status) return {};
  TRY_ASSIGN(profile.access_providers, read_providers(*status, "accessProviders"));
  TRY_ASSIGN(std::vector<AccessProvider> deprecated,
             read_providers(*status, "credentialProviders"));
  for (AccessProvider& provider : deprecated) {
    if (lists(profile.access_providers, provider.name)) continue;
    profile.access_providers.push_back(std::move(provider));
  }
  return {};
}

Status collect(const Value& document, std::vector<ClusterProfile>& profiles);

// Items of a ClusterProfileList carry no kind of their own.
Status collect_items(const ObjectReader& list, bool are_profiles,
                     std::vector<ClusterProfile>& profiles) {
  TRY_ASSIGN(const std::vector<ObjectReader> items, list.objects("items"));
  for (const ObjectReader& item : items) {
    if (!are_profiles) {
      TRY(collect(item.value(), profiles).context("reading " + item.path()));
      continue;
    }
    TRY_ASSIGN(ClusterProfile profile,
               parse_cluster_profile(item.value()).context("reading " + item.path()));
    profiles.push_back(std::move(profile));
  }
  return {};
}

Status collect(const Value& document, std::vector<ClusterProfile>& profiles) {
  TRY_ASSIGN(const ObjectReader reader, ObjectReader::open(document, ""));
  TRY_ASSIGN(const std::string kind, reader.required_string("kind"));
  TRY_ASSIGN(const std::string version, reader.required_string("apiVersion"));
  if (kind == "List") return collect_items(reader, false, profiles);
  const bool is_list = kind == "ClusterProfileList";
  if (!is_list && kind != "ClusterProfile") return {};
  if (!version.starts_with(kGroup)) {
    return json::field_error(
        "apiVersion", "is " + in_quotes(version) + ", not " + std::string(kGroup) + "v1alpha1");
  }
  if (is_list) return collect_items(reader, true, profiles);
  TRY_ASSIGN(ClusterProfile profile, parse_cluster_profile(document));
  profiles.push_back(std::move(profile));
  return {};
}

}  // namespace

std::string ClusterProfile::full_name() const {
  return name_space.empty() ? name : name_space + "/" + name;
}

Result<ClusterProfile> parse_cluster_profile(const Value& document) {
  ClusterProfile profile;
  TRY_ASSIGN(const ObjectReader reader, ObjectReader::open(document, ""));
  TRY(read_names(reader, profile));
  TRY(read_status(reader, profile).context("reading ClusterProfile " + profile.full_name()));
  return profile;
}

Result<std::vector<ClusterProfile>> parse_cluster_profiles(std::string_view text) {
  TRY_ASSIGN(const std::vector<Value> documents, parse_documents(text, kMaxInventory));
  std::vector<ClusterProfile> profiles;
  for (const Value& document : documents) TRY(collect(document, profiles));
  return profiles;
}

}  // namespace execcred

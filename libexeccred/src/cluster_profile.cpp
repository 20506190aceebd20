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

// The entry of a list of objects whose `key` is `name`.
Result<std::optional<ObjectReader>> find_entry(const ObjectReader& status, std::string_view list,
                                               std::string_view key, std::string_view name) {
  TRY_ASSIGN(const std::vector<ObjectReader> entries, status.objects(list));
  for (const ObjectReader& entry : entries) {
    TRY_ASSIGN(const std::optional<std::string> entry_name, entry.optional_string(key));
    if (entry_name && *entry_name == name) return std::optional(entry);
  }
  return std::optional<ObjectReader>();
}

Status read_health(const ObjectReader& status, ClusterProfile& profile) {
  TRY_ASSIGN(const std::optional<ObjectReader> condition,
             find_entry(status, "conditions", "type", "ControlPlaneHealthy"));
  if (!condition) return {};
  TRY_ASSIGN(const std::optional<std::string> value, condition->optional_string("status"));
  profile.is_healthy = value.has_value() && *value == "True";
  return {};
}

Status read_cluster_id(const ObjectReader& status, ClusterProfile& profile) {
  TRY_ASSIGN(const std::optional<ObjectReader> property,
             find_entry(status, "properties", "name", "cluster.clusterset.k8s.io"));
  if (!property) return {};
  TRY_ASSIGN(const std::optional<std::string> value, property->optional_string("value"));
  if (value) profile.cluster_id = *value;
  return {};
}

Status read_status(const ObjectReader& document, ClusterProfile& profile) {
  TRY_ASSIGN(const std::optional<ObjectReader> status, document.optional_object("status"));
  if (!status) return {};
  TRY(read_health(*status, profile));
  TRY(read_cluster_id(*status, profile));
  TRY_ASSIGN(profile.access_providers, read_providers(*status, "accessProviders"));
  TRY_ASSIGN(std::vector<AccessProvider> deprecated,
             read_providers(*status, "credentialProviders"));
  for (AccessProvider& provider : deprecated) {
    if (lists(profile.access_providers, provider.name)) continue;
    profile.access_providers.push_back(std::move(provider));
  }
  return {};
}

Status read_document(const Value& document, const ReceiveClusterProfile& receive);

// Items of a ClusterProfileList carry no kind of their own.
Status read_items(const ObjectReader& list, bool are_profiles,
                  const ReceiveClusterProfile& receive) {
  TRY_ASSIGN(const std::vector<ObjectReader> items, list.objects("items"));
  for (const ObjectReader& item : items) {
    const std::string doing = "reading " + item.path();
    const ReceiveClusterProfile receive_item = [&](Result<ClusterProfile> profile) {
      return receive(std::move(profile).context(doing));
    };
    TRY(are_profiles ? receive_item(parse_cluster_profile(item.value()))
                     : read_document(item.value(), receive_item));
  }
  return {};
}

struct Kind {
  bool is_list = false;
  bool is_profile = false;  // or a list of them
};

Result<Kind> read_kind(const ObjectReader& document) {
  TRY_ASSIGN(const std::string kind, document.required_string("kind"));
  TRY_ASSIGN(const std::string version, document.required_string("apiVersion"));
  if (kind == "List") return Kind{.is_list = true};
  const bool is_list = kind == "ClusterProfileList";
  const bool is_profile = is_list || kind == "ClusterProfile";
  if (is_profile && !version.starts_with(kGroup)) {
    return json::field_error(
        "apiVersion", "is " + in_quotes(version) + ", not " + std::string(kGroup) + "v1alpha1");
  }
  return Kind{.is_list = is_list, .is_profile = is_profile};
}

Status read_document(const Value& document, const ReceiveClusterProfile& receive) {
  const Result<ObjectReader> reader = ObjectReader::open(document, "");
  if (!reader) return receive(reader.error());
  const Result<Kind> kind = read_kind(*reader);
  if (!kind) return receive(kind.error());
  if (!kind->is_list) {
    return kind->is_profile ? receive(parse_cluster_profile(document)) : Status();
  }
  return read_items(*reader, kind->is_profile, receive);
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

Status for_each_cluster_profile(std::string_view text, const ReceiveClusterProfile& receive) {
  TRY_ASSIGN(const std::vector<Value> documents, parse_documents(text, kMaxInventory));
  for (const Value& document : documents) TRY(read_document(document, receive));
  return {};
}

Result<std::vector<ClusterProfile>> parse_cluster_profiles(std::string_view text) {
  std::vector<ClusterProfile> profiles;
  TRY(for_each_cluster_profile(text, [&profiles](Result<ClusterProfile> profile) -> Status {
    if (!profile) return std::move(profile).error();
    profiles.push_back(std::move(profile).value());
    return {};
  }));
  return profiles;
}

}  // namespace execcred

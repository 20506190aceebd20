// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/cluster_profile.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/yaml/documents.hpp>

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace execcred {
namespace {

using json::ObjectReader;
using json::Value;

// An API server stores objects of at most 1.5 MiB. So many entries would have 15 bytes each, which
// is too small for an entry.
constexpr std::size_t kMaxProviders = 100'000;

Result<std::vector<AccessProvider>> read_providers(const ObjectReader& status,
                                                   std::string_view field,
                                                   std::optional<Error>& problem) {
  std::vector<AccessProvider> providers;
  const Value* const list = status.find(field);
  if (list == nullptr) return providers;
  const std::string path = status.path_of(field);
  const json::Array* const entries = list->array();
  if (entries == nullptr) {
    return json::field_error(path, "must be an array, not " + std::string(list->kind()));
  }
  if (entries->size() > kMaxProviders) {
    return json::field_error(path, "has more than " + std::to_string(kMaxProviders) + " entries");
  }
  providers.reserve(entries->size());
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const Result<ObjectReader> entry =
        ObjectReader::open((*entries)[i], path + "[" + std::to_string(i) + "]");
    const Result<std::string> name =
        entry ? entry->required_string("name") : Result<std::string>(entry.error());
    if (!name) {
      if (!problem) problem = name.error();
      continue;
    }
    const auto [known, is_new] = places.emplace(*name, providers.size());
    if (!is_new) {
      providers[known->second].listed_again_at = entry->path();
      continue;
    }
    const Value* cluster = entry->find("cluster");
    providers.push_back(
        {.name = *name, .path = entry->path(), .cluster = cluster == nullptr ? Value() : *cluster});
  }
  return providers;
}

Status read_version(const ObjectReader& document, ClusterProfile& profile) {
  const std::optional<std::string> version = TRY(document.optional_string("apiVersion"));
  if (!version) return {};
  profile.version = TRY(parse_profile_version(*version));
  return {};
}

Status read_metadata(const ObjectReader& document, ClusterProfile& profile) {
  const ObjectReader metadata = TRY(document.required_object("metadata"));
  const Value* labels = metadata.find("labels");
  if (labels != nullptr) {
    profile.inventory_member_id = json::text_or_empty(labels->find(kInventoryMemberLabel));
    profile.has_member_label = !profile.inventory_member_id.empty();
  }
  profile.name = TRY(metadata.required_string("name"));
  if (!is_dns1123_subdomain(profile.name)) {
    return json::field_error("metadata.name",
                             in_quotes(profile.name) + " is no DNS-1123 subdomain");
  }
  std::optional<std::string> name_space = TRY(metadata.optional_string("namespace"));
  profile.name_space = std::move(name_space).value_or("");
  if (profile.name_space.empty() || is_dns1123_label(profile.name_space)) return {};
  return json::field_error("metadata.namespace",
                           in_quotes(profile.name_space) + " is no DNS-1123 label");
}

// The member `field` of the entry of a list in which `key` is `name`; empty if there is none, or
// if it is malformed.
std::string text_of_entry(const ObjectReader& status, std::string_view list,
                          std::pair<std::string_view, std::string_view> key_and_name,
                          std::string_view field) {
  const Value* const entries = status.find(list);
  if (entries == nullptr || entries->array() == nullptr) return {};
  for (const Value& entry : *entries->array()) {
    if (json::text_or_empty(entry, key_and_name.first) != key_and_name.second) continue;
    std::string text = json::text_or_empty(entry, field);
    return has_control_character(text) ? std::string() : text;
  }
  return {};
}

void read_member_property(const ObjectReader& status, ClusterProfile& profile) {
  const Value* const properties = status.find("properties");
  if (profile.has_member_label || properties == nullptr || properties->array() == nullptr) return;
  for (const Value& property : *properties->array()) {
    if (json::text_or_empty(property, "name") != kInventoryMemberLabel) continue;
    profile.inventory_member_id = json::text_or_empty(property, "value");
    return;
  }
}

Status read_status(const ObjectReader& document, ClusterProfile& profile) {
  const std::optional<ObjectReader> status = TRY(document.optional_object("status"));
  if (!status) return {};
  for (const std::string_view type : {"ControlPlaneHealthy", "Joined"}) {
    const std::string value = text_of_entry(*status, "conditions", {"type", type}, "status");
    if (value == "False" && !profile.is_unhealthy()) profile.unhealthy_condition = type;
  }
  profile.cluster_id =
      text_of_entry(*status, "properties", {"name", "cluster.clusterset.k8s.io"}, "value");
  read_member_property(*status, profile);
  std::optional<Error>& problem = profile.provider_problem;
  profile.access_providers = TRY(read_providers(*status, "accessProviders", problem));
  if (profile.version != ProfileVersion::v1alpha1) {
    const Value* dropped = status->find("credentialProviders");
    profile.has_dropped_providers = dropped != nullptr && !dropped->is_null();
    return {};
  }
  Result<std::vector<AccessProvider>> deprecated =
      read_providers(*status, "credentialProviders", problem);
  if (!deprecated) {
    problem = std::move(deprecated).error();
    return {};
  }
  std::unordered_set<std::string> names;
  for (const AccessProvider& provider : profile.access_providers) names.insert(provider.name);
  for (AccessProvider& provider : *deprecated) {
    if (names.contains(provider.name)) continue;
    profile.access_providers.push_back(std::move(provider));
  }
  return {};
}

void read_document(const Document& document, const ReceiveProfileOrError& receive);

struct Kind {
  bool is_list = false;
  bool is_profile = false;  // or a list of them
  ProfileVersion version = ProfileVersion::v1alpha1;
};

// Items of a ClusterProfileList may lack a kind and a version of their own.
void read_items(const ObjectReader& list, const Kind& kind, const ItemProblems& problems,
                const ReceiveProfileOrError& receive) {
  const Value* items = list.find("items");
  if (items == nullptr || items->is_null()) return;
  if (items->array() == nullptr) return receive(list.objects("items").error(), {});
  for (std::size_t i = 0; i < items->array()->size(); ++i) {
    const std::string path = list.path_of("items") + "[" + std::to_string(i) + "]";
    const Value& item = (*items->array())[i];
    const ReceiveProfileOrError receive_item = [&](Result<ClusterProfile> profile,
                                                   const ProfileName& name) {
      receive(std::move(profile).context("reading " + path), name);
    };
    const Result<ObjectReader> object = ObjectReader::open(item, path);
    if (const auto problem = problems.find(i); problem != problems.end()) {
      const ProfileName name = profile_name_of(item);
      receive_item(Result<ClusterProfile>(problem->second)
                       .context("reading ClusterProfile " + in_quotes(name.full_name())),
                   name);
    } else if (!object) {
      receive(object.error(), {});
    } else if (kind.is_profile) {
      receive_item(parse_cluster_profile(item, kind.version), profile_name_of(item));
    } else {
      read_document({.value = item}, receive_item);
    }
  }
}

// The name of a ClusterProfile whose version is not supported. Empty for an object of another kind.
ProfileName name_of_profile_like(const Value& document) {
  const Value* const kind = document.find("kind");
  const bool is_profile =
      kind != nullptr && kind->string() != nullptr && *kind->string() == "ClusterProfile";
  return is_profile ? profile_name_of(document) : ProfileName();
}

Result<Kind> read_kind(const ObjectReader& document) {
  const std::string kind = TRY(document.required_string("kind"));
  const std::string version = TRY(document.required_string("apiVersion"));
  if (kind == "List") return Kind{.is_list = true};
  if (is_kind_of_sveltos(version)) return Kind();
  const bool is_list = kind == "ClusterProfileList";
  Kind read{.is_list = is_list, .is_profile = is_list || kind == "ClusterProfile"};
  if (read.is_profile) {
    read.version = TRY(parse_profile_version(version));
  }
  return read;
}

void read_document(const Document& document, const ReceiveProfileOrError& receive) {
  const Value& value = document.value;
  const Result<ObjectReader> reader = ObjectReader::open(value, "");
  if (!reader) return receive(reader.error(), {});
  const Result<Kind> kind = read_kind(*reader);
  if (!kind) return receive(kind.error(), name_of_profile_like(value));
  if (kind->is_list) return read_items(*reader, *kind, document.item_problems, receive);
  if (kind->is_profile) receive(parse_cluster_profile(value), profile_name_of(value));
}

// The CRD's rule is isURL(self) && url(self).getHost() != ''. parse_url() is stricter, but
// execcred's clients do not connect to a URL that it refuses. An empty field counts as absent.
Result<std::optional<Url>> read_url(const ObjectReader& cluster, std::string_view field) {
  const std::optional<std::string> text = TRY(cluster.optional_string(field));
  if (!text || text->empty()) return std::optional<Url>();
  Result<Url> url = parse_url(*text);
  if (url) return std::optional(std::move(url).value());
  return json::field_error(
      cluster.path_of(field),
      "is " + redacted_url(*text) + ", no URL with a host: it " + url.error().message);
}

}  // namespace

std::string_view name_of(ProfileVersion version) {
  return version == ProfileVersion::v1alpha1 ? "v1alpha1" : "v1alpha2";
}

std::string known_profile_versions() {
  std::string text(kProfileGroup);
  for (const ProfileVersion version : kProfileVersions) {
    text += version == kProfileVersions.front() ? "/" : " or ";
    text += name_of(version);
  }
  return text;
}

Result<ProfileVersion> parse_profile_version(std::string_view api_version) {
  for (const ProfileVersion version : kProfileVersions) {
    const std::string known = std::string(kProfileGroup) + "/" + std::string(name_of(version));
    if (api_version == known) return version;
  }
  return json::field_error("apiVersion",
                           "is " + in_quotes(api_version) + ", not " + known_profile_versions());
}

bool is_kind_of_sveltos(std::string_view api_version) {
  return api_version.starts_with("config.projectsveltos.io/");
}

std::string ProfileName::full_name() const { return full_name_of(name_space, name); }

std::string ClusterProfile::full_name() const { return full_name_of(name_space, name); }

Result<ClusterProfile> parse_cluster_profile(const Value& document, ProfileVersion version) {
  ClusterProfile profile;
  profile.version = version;
  const ObjectReader reader = TRY(ObjectReader::open(document, ""));
  TRY(read_version(reader, profile));
  TRY(read_metadata(reader, profile));
  TRY(read_status(reader, profile).context("reading ClusterProfile " + profile.full_name()));
  return profile;
}

Status check_profile_cluster(const ObjectReader& cluster, ProfileVersion version) {
  if (version == ProfileVersion::v1alpha1) return {};
  TRY(read_url(cluster, "server"));
  const std::optional<Url> proxy = TRY(read_url(cluster, "proxy-url"));
  if (!proxy || proxy->scheme == "http" || proxy->scheme == "https" || proxy->scheme == "socks5") {
    return {};
  }
  return json::field_error(
      cluster.path_of("proxy-url"),
      "has the scheme " + in_quotes(proxy->scheme) + ", not http, https or socks5");
}

ProfileName profile_name_of(const Value& document) {
  ProfileName name;
  const Value* const metadata = document.find("metadata");
  if (metadata == nullptr) return name;
  for (const auto& [field, text] :
       {std::pair{"namespace", &name.name_space}, {"name", &name.name}}) {
    const Value* const value = metadata->find(field);
    if (value == nullptr || value->string() == nullptr) continue;
    *text = *value->string();
  }
  const Value* const labels = metadata->find("labels");
  if (labels == nullptr || labels->object() == nullptr) return name;
  for (const json::Member& label : *labels->object()) {
    name.labels.emplace(label.name, json::text_or_empty(&label.value));
  }
  return name;
}

void for_each_cluster_profile(std::string_view text, const ReceiveProfileOrError& receive) {
  for (const Result<Document>& document : parse_each_document(text, kMaxInventory)) {
    if (document) {
      read_document(*document, receive);
    } else {
      receive(document.error(), {});
    }
  }
}

}  // namespace execcred

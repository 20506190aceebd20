// SPDX-License-Identifier: Apache-2.0
#include "catalogue.hpp"
#include "cluster.hpp"
#include "documents.hpp"
#include "inputs.hpp"
#include "providers.hpp"
#include "secrets.hpp"

#include <execcred/base/text.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/label_selector.hpp>
#include <execcred/kube/profile_hint.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace execcred::lint {
namespace {

using json::ObjectReader;

std::string_view format_hint() {
  static const std::string kHint = profile_format_hint(false);
  return kHint;
}

// The version of the document's apiVersion. The items of a ClusterProfileList may have no
// apiVersion; then the version is `version_of_list`.
ProfileVersion check_version(const Scope& scope, const ObjectReader& document, ProfileOf source,
                             ProfileVersion version_of_list) {
  const Result<std::optional<std::string>> text = document.optional_string("apiVersion");
  if (!text) {
    scope.add(Severity::error, text.error(), {}, format_hint());
  } else if (!*text && source == ProfileOf::document) {
    scope.error("apiVersion", "is missing", format_hint());
  } else if (*text) {
    const Result<ProfileVersion> version = parse_profile_version(**text);
    if (version) return *version;
    scope.add(Severity::error, version.error(), {}, format_hint());
  }
  return version_of_list;
}

// Warns of a namespace in which the consumer reads no ClusterProfile.
void check_reader(const Scope& scope, const std::string& name_space) {
  const cli::KnownConsumer* const reader = cli::catalogue().consumer(scope.limits().consumer);
  if (reader == nullptr || !reader->reads_own_namespace) return;
  if (name_space.empty() || name_space == reader->name_space) return;
  scope.as(rule::kKueue)
      .warning("metadata.namespace",
               "is " + in_quotes(name_space) + ", and " + reader->name +
                   " reads ClusterProfiles of its own namespace alone",
               "write it to " + in_quotes(reader->name_space) + ", or to the namespace where " +
                   reader->name + " runs");
}

// NAMESPACE/NAME, or the name alone; empty if the name is missing or one of the two is not a
// string.
std::string check_names(const Scope& scope, const ObjectReader& document) {
  const Result<ObjectReader> metadata = document.required_object("metadata");
  if (!metadata) {
    scope.add(Severity::error, metadata.error(), {}, format_hint());
    return {};
  }
  const Result<std::string> name = metadata->required_string("name");
  if (!name) {
    scope.add(Severity::error, name.error(), {}, format_hint());
  } else if (!is_dns1123_subdomain(*name)) {
    scope.error("metadata.name", "is " + in_quotes(*name) + ", no DNS-1123 subdomain",
                format_hint());
  }
  const Result<std::optional<std::string>> name_space = metadata->optional_string("namespace");
  if (!name_space) {
    scope.add(Severity::error, name_space.error(), {}, format_hint());
    return {};
  }
  const std::string namespace_text = name_space->value_or("");
  if (!namespace_text.empty() && !is_dns1123_label(namespace_text)) {
    scope.error("metadata.namespace", "is " + in_quotes(namespace_text) + ", no DNS-1123 label",
                format_hint());
  }
  check_reader(scope, namespace_text);
  if (!name) return {};
  return full_name_of(namespace_text, *name);
}

void check_unique(const Scope& scope, const std::string& full_name) {
  if (full_name.empty()) return;
  // No valid name contains a newline.
  const std::string key = scope.group() + '\n' + full_name;
  const auto [known, is_new] = scope.run().places_of_profiles.emplace(key, scope.place());
  if (is_new) return;
  scope.error("metadata.name",
              "is that of " + in_quotes(full_name) + ", which stands in " +
                  in_quotes(known->second) + " too",
              "keep one: get cannot choose, kubeconfig takes the first, and sync takes none");
}

// Warns of two ClusterProfiles of one cluster, and returns whether this is the second one. Each of
// them is valid, but a client that uses both has the cluster twice.
bool is_second_member(const Scope& scope, const std::string& path, const std::string& id,
                      const std::string& full_name) {
  if (full_name.empty()) return false;
  const auto [first, is_new] = scope.run().members.emplace(scope.group() + '\n' + id, full_name);
  if (is_new || first->second == full_name) return false;
  scope.warning(path,
                "is " + in_quotes(id) + ", as that of " + in_quotes(first->second) +
                    ": the two ClusterProfiles are one cluster",
                "keep one of them, or choose one with a label: -l");
  return true;
}

// The ID of a cluster is a label, a property or both. Properties of other types are reported
// elsewhere.
void check_member(const Scope& scope, const ObjectReader& document, const std::string& full_name) {
  const json::Value* metadata = document.find("metadata");
  const json::Value* labels = metadata == nullptr ? nullptr : metadata->find("labels");
  const json::Value* label = labels == nullptr ? nullptr : labels->find(kInventoryMemberLabel);
  if (label != nullptr) {
    const std::string path = join_path("metadata.labels", step(kInventoryMemberLabel));
    const std::string* const id = label->string();
    if (id == nullptr || !is_label_value(*id) || id->empty()) {
      scope.error(
          path, "is no value of this label",
          "write 1 to 63 letters, digits, '-', '_' and '.', the same for one cluster alone");
    } else if (is_second_member(scope, path, *id, full_name)) {
      return;
    }
  }
  const json::Value* const status = document.find("status");
  const json::Value* const properties = status == nullptr ? nullptr : status->find("properties");
  if (properties == nullptr || properties->array() == nullptr) return;
  for (std::size_t i = 0; i < properties->array()->size(); ++i) {
    const json::Value& property = (*properties->array())[i];
    if (json::text_or_empty(property, "name") != kInventoryMemberLabel) continue;
    const std::string id = json::text_or_empty(property, "value");
    const std::string path = "status.properties" + step(i) + ".value";
    if (!id.empty() && is_second_member(scope, path, id, full_name)) return;
  }
}

void check_length(const Scope& scope, const ObjectReader& object, std::string_view field,
                  std::size_t most) {
  const json::Value* value = object.find(field);
  if (value == nullptr || value->string() == nullptr || value->string()->size() <= most) return;
  scope.error(object.path_of(field),
              "has " + std::to_string(value->string()->size()) + " bytes, and v1alpha2 allows " +
                  std::to_string(most),
              format_hint());
}

// Checks the CRD's limits for the lengths of names. The length of a URL is limited in every
// version.
void check_v1alpha2_cluster(const Scope& scope, const ObjectReader& cluster) {
  constexpr std::size_t kName = 253;
  check_length(scope, cluster, "tls-server-name", kName);
  const Result<std::vector<ObjectReader>> extensions = cluster.objects("extensions");
  if (!extensions) return;
  for (const ObjectReader& extension : *extensions) check_length(scope, extension, "name", kName);
}

void check_provider(const Scope& scope, const ObjectReader& entry, ProfileVersion version,
                    std::set<std::string>& names) {
  const Result<std::string> name = entry.required_string("name");
  if (!name) {
    scope.add(Severity::error, name.error(), entry.path(), format_hint());
  } else if (!names.insert(*name).second) {
    scope.error(entry.path_of("name"),
                "is " + in_quotes(*name) + ", like that of an entry before it", format_hint());
  }
  constexpr std::size_t kLongestName = 253;
  if (version == ProfileVersion::v1alpha2) check_length(scope, entry, "name", kLongestName);
  const Result<ObjectReader> cluster = entry.required_object("cluster");
  if (cluster) {
    check_cluster(scope.as(rule::kCluster), *cluster, ClusterOf::cluster_profile);
    if (version == ProfileVersion::v1alpha2) check_v1alpha2_cluster(scope, *cluster);
    if (name) note_input(scope, *name, *cluster);
  } else {
    scope.add(Severity::error, cluster.error(), entry.path(), format_hint());
  }
}

// Returns the number of entries, and adds their names to `all_names`.
std::size_t check_providers(const Scope& scope, const ObjectReader& status, std::string_view field,
                            ProfileVersion version, std::set<std::string>& all_names) {
  const json::Value* value = status.find(field);
  if (value == nullptr) return 0;
  const std::string path = status.path_of(field);
  if (value->array() == nullptr) {
    scope.error(path, "must be an array, not " + std::string(value->kind()), format_hint());
    return 1;
  }
  constexpr std::size_t kMost = 64;
  if (version == ProfileVersion::v1alpha2 && value->array()->size() > kMost) {
    scope.error(path,
                "has " + std::to_string(value->array()->size()) + " entries, and v1alpha2 allows " +
                    std::to_string(kMost),
                format_hint());
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < value->array()->size(); ++i) {
    const Result<ObjectReader> entry = ObjectReader::open((*value->array())[i], path + step(i));
    if (entry) {
      check_provider(scope, *entry, version, names);
    } else {
      scope.add(Severity::error, entry.error(), path, format_hint());
    }
  }
  all_names.merge(names);
  return value->array()->size();
}

void check_dropped_field(const Scope& scope, const ObjectReader& status) {
  const json::Value* dropped = status.find("credentialProviders");
  if (dropped == nullptr || dropped->is_null()) return;
  scope.error(status.path_of("credentialProviders"),
              "is no field of v1alpha2: the API server drops it, and nothing reads it",
              "move its entries to accessProviders");
}

// Checks a list of entries that only inform: the cluster is used without those that are malformed.
void check_entries(const Scope& scope, const ObjectReader& status, std::string_view list,
                   std::initializer_list<std::string_view> texts) {
  const json::Value* const entries = status.find(list);
  if (entries == nullptr) return;
  const std::string path = status.path_of(list);
  if (entries->array() == nullptr) {
    scope.error(path, "must be an array, not " + std::string(entries->kind()), format_hint());
    return;
  }
  for (std::size_t i = 0; i < entries->array()->size(); ++i) {
    const Result<ObjectReader> entry = ObjectReader::open((*entries->array())[i], path + step(i));
    if (!entry) {
      scope.add(Severity::error, entry.error(), path, format_hint());
      continue;
    }
    for (const std::string_view text : texts) {
      const Result<std::optional<std::string>> value = entry->optional_string(text);
      if (!value) scope.add(Severity::error, value.error(), path, format_hint());
    }
  }
}

void check_status(const Scope& scope, const ObjectReader& document, ProfileVersion version) {
  const Result<std::optional<ObjectReader>> status = document.optional_object("status");
  if (!status) {
    scope.add(Severity::error, status.error(), {}, format_hint());
    return;
  }
  std::size_t providers = 0;
  std::set<std::string> names;
  if (*status) {
    check_entries(scope, **status, "conditions", {"type", "status"});
    check_entries(scope, **status, "properties", {"name", "value"});
    providers += check_providers(scope, **status, "accessProviders", version, names);
    std::size_t deprecated = 0;
    if (version == ProfileVersion::v1alpha1) {
      deprecated = check_providers(scope, **status, "credentialProviders", version, names);
    } else {
      check_dropped_field(scope, **status);
    }
    providers += deprecated;
    if (deprecated > 0) {
      scope.warning((*status)->path_of("credentialProviders"),
                    "is the deprecated name of accessProviders", "write accessProviders");
    }
  }
  if (providers == 0) {
    scope.warning("status.accessProviders", "is empty, so the cluster cannot be reached",
                  "let the cluster manager offer a way to reach it");
  }
  note_providers(scope, "status.accessProviders", std::move(names));
}

}  // namespace

void check_cluster_profile(const Scope& outer, const ObjectReader& document, ProfileOf source,
                           ProfileVersion version_of_list) {
  const Scope scope = outer.as(rule::kClusterProfile);
  const auto& chooses = scope.limits().chooses;
  if (chooses && !chooses(profile_name_of(document.value()))) return;
  const std::size_t found = scope.run().findings.size();
  const std::size_t inputs = scope.run().inputs.size();
  const ProfileVersion version = check_version(scope, document, source, version_of_list);
  const std::string full_name = check_names(scope, document);
  check_unique(scope.as(rule::kDuplicateProfile), full_name);
  check_member(scope.as(rule::kDuplicateMember), document, full_name);
  check_status(scope, document, version);
  for (std::size_t i = inputs; i < scope.run().inputs.size(); ++i) {
    scope.run().inputs[i].profile = full_name.substr(full_name.find('/') + 1);
  }
  const auto& findings = scope.run().findings;
  const bool has_error =
      std::any_of(findings.begin() + static_cast<std::ptrdiff_t>(found), findings.end(),
                  [](const Finding& finding) { return finding.severity == Severity::error; });
  // Another reason for which the commands would refuse the document.
  const Result<ClusterProfile> profile = parse_cluster_profile(document.value(), version);
  if (!profile && !has_error) scope.add(Severity::error, profile.error(), {}, format_hint());
  check_no_secrets(scope.as(rule::kSecret), document.value(), "", Severity::error);
}

}  // namespace execcred::lint

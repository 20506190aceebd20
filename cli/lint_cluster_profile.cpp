// SPDX-License-Identifier: Apache-2.0
#include "lint_cluster.hpp"
#include "lint_documents.hpp"
#include "lint_inputs.hpp"
#include "lint_secrets.hpp"

#include <execcred/cluster_profile.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace execcred::lint {
namespace {

using json::ObjectReader;

constexpr std::string_view kGroup = "multicluster.x-k8s.io/";
constexpr std::string_view kFormat =
    "the format is ClusterProfile of multicluster.x-k8s.io/v1alpha1; whoever writes the object "
    "must mend it";

// The items of a ClusterProfileList may have none.
void check_version(const Scope& scope, const ObjectReader& document, ProfileOf source) {
  const Result<std::optional<std::string>> version = document.optional_string("apiVersion");
  if (!version) {
    scope.add(Severity::error, version.error(), {}, kFormat);
  } else if (!*version && source == ProfileOf::document) {
    scope.error("apiVersion", "is missing", kFormat);
  } else if (*version && !(*version)->starts_with(kGroup)) {
    scope.error("apiVersion",
                "is " + in_quotes(**version) + ", not " + std::string(kGroup) + "v1alpha1",
                kFormat);
  }
}

// The name as a finding's readers know it; empty where it is malformed.
std::string check_names(const Scope& scope, const ObjectReader& document) {
  const Result<ObjectReader> metadata = document.required_object("metadata");
  if (!metadata) {
    scope.add(Severity::error, metadata.error(), {}, kFormat);
    return {};
  }
  const Result<std::string> name = metadata->required_string("name");
  if (!name) {
    scope.add(Severity::error, name.error(), {}, kFormat);
  } else if (!is_dns1123_subdomain(*name)) {
    scope.error("metadata.name", "is " + in_quotes(*name) + ", no DNS-1123 subdomain", kFormat);
  }
  const Result<std::optional<std::string>> name_space = metadata->optional_string("namespace");
  if (!name_space) {
    scope.add(Severity::error, name_space.error(), {}, kFormat);
    return {};
  }
  const std::string namespace_text = name_space->value_or("");
  if (!namespace_text.empty() && !is_dns1123_label(namespace_text)) {
    scope.error("metadata.namespace", "is " + in_quotes(namespace_text) + ", no DNS-1123 label",
                kFormat);
  }
  if (!name) return {};
  return namespace_text.empty() ? *name : namespace_text + "/" + *name;
}

void check_unique(const Scope& scope, const std::string& full_name) {
  if (full_name.empty()) return;
  // No name has such a character.
  const std::string key = scope.group() + '\n' + full_name;
  const auto [known, is_new] = scope.run().places_of_profiles.emplace(key, scope.place());
  if (is_new) return;
  scope.error("metadata.name",
              "is that of " + in_quotes(full_name) + ", which stands in " +
                  in_quotes(known->second) + " too",
              "keep one; commands refuse to choose");
}

void check_provider(const Scope& scope, const ObjectReader& entry, std::set<std::string>& names) {
  const Result<std::string> name = entry.required_string("name");
  if (!name) {
    scope.add(Severity::error, name.error(), entry.path(), kFormat);
  } else if (!names.insert(*name).second) {
    scope.error(entry.path_of("name"),
                "is " + in_quotes(*name) + ", like that of an entry before it", kFormat);
  }
  const Result<ObjectReader> cluster = entry.required_object("cluster");
  if (cluster) {
    check_cluster(scope, *cluster, ClusterOf::cluster_profile);
    if (name) note_input(scope, *name, *cluster);
  } else {
    scope.add(Severity::error, cluster.error(), entry.path(), kFormat);
  }
}

// Gives how many there are.
std::size_t check_providers(const Scope& scope, const ObjectReader& status,
                            std::string_view field) {
  const json::Value* value = status.find(field);
  if (value == nullptr) return 0;
  const std::string path = status.path_of(field);
  if (value->array() == nullptr) {
    scope.error(path, "must be an array, not " + std::string(value->kind()), kFormat);
    return 1;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < value->array()->size(); ++i) {
    const Result<ObjectReader> entry = ObjectReader::open((*value->array())[i], path + step(i));
    if (entry) {
      check_provider(scope, *entry, names);
    } else {
      scope.add(Severity::error, entry.error(), path, kFormat);
    }
  }
  return value->array()->size();
}

void check_status(const Scope& scope, const ObjectReader& document) {
  const Result<std::optional<ObjectReader>> status = document.optional_object("status");
  if (!status) {
    scope.add(Severity::error, status.error(), {}, kFormat);
    return;
  }
  std::size_t providers = 0;
  if (*status) {
    providers += check_providers(scope, **status, "accessProviders");
    const std::size_t deprecated = check_providers(scope, **status, "credentialProviders");
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
}

}  // namespace

void check_cluster_profile(const Scope& scope, const ObjectReader& document, ProfileOf source) {
  const std::size_t found = scope.run().findings.size();
  check_version(scope, document, source);
  check_unique(scope, check_names(scope, document));
  check_status(scope, document);
  const auto& findings = scope.run().findings;
  const bool has_error =
      std::any_of(findings.begin() + static_cast<std::ptrdiff_t>(found), findings.end(),
                  [](const Finding& finding) { return finding.severity == Severity::error; });
  // What else the commands would refuse.
  const Result<ClusterProfile> profile = parse_cluster_profile(document.value());
  if (!profile && !has_error) scope.add(Severity::error, profile.error(), {}, kFormat);
  check_no_secrets(scope, document.value(), "", Severity::error);
}

}  // namespace execcred::lint

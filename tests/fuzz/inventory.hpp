// SPDX-License-Identifier: Apache-2.0
// Checks of every accepted ClusterProfile, in JSON and in YAML.
#pragma once

#include "fuzz.hpp"
#include "support/profiles.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/exec/cluster.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/cluster_profile.hpp>

#include <set>
#include <string>
#include <vector>

namespace execcred::fuzz {

using test::parse_cluster_profiles;

// The rules of RFC 1123, implemented differently than in the library.
inline bool is_dns_name(const std::string& name, std::size_t longest, bool may_have_dots) {
  char before = '.';
  for (const char c : name) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool is_inner = c == '-' && before != '.';
    const bool is_dot = c == '.' && may_have_dots && before != '.' && before != '-';
    if (!is_word && !is_inner && !is_dot) return false;
    before = c;
  }
  return before != '.' && before != '-' && name.size() <= longest;
}

inline void check_access_provider(const AccessProvider& provider) {
  const Result<json::ObjectReader> object = json::ObjectReader::open(provider.cluster, "cluster");
  if (!object) return;
  const Result<Cluster> cluster = parse_kubeconfig_cluster(*object);
  if (!cluster) return;
  require(!cluster->server.empty(), "a cluster has a server");
  const json::Value* const path = provider.cluster.find("certificate-authority");
  require(
      path == nullptr || path->is_null() || (path->string() != nullptr && path->string()->empty()),
      "no path to a file of the reader's");
  require(decode_base64(cluster->certificate_authority_data).has_value(), "the CA is base64");
  const json::Value written = to_json(*cluster);
  const Result<Cluster> again = parse_exec_cluster(*json::ObjectReader::open(written, "cluster"));
  require(again.has_value() && to_json(*again) == written, "a plugin is told the same cluster");
}

inline void check_profile(const ClusterProfile& profile) {
  require(is_dns_name(profile.name, 253, true), "a name is a DNS subdomain");
  require(profile.name_space.empty() || is_dns_name(profile.name_space, 63, false),
          "a namespace is a DNS label");
  require(profile.full_name().ends_with(profile.name), "the full name ends in the name");
  std::set<std::string> names;
  for (const AccessProvider& provider : profile.access_providers) {
    require(!provider.name.empty() && names.insert(provider.name).second, "providers, each once");
    check_access_provider(provider);
  }
}

inline bool is_same(const std::vector<ClusterProfile>& a, const std::vector<ClusterProfile>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) {
    same = a[i].full_name() == b[i].full_name() &&
           a[i].access_providers.size() == b[i].access_providers.size();
    for (std::size_t j = 0; same && j < a[i].access_providers.size(); ++j) {
      same = a[i].access_providers[j].name == b[i].access_providers[j].name &&
             a[i].access_providers[j].cluster == b[i].access_providers[j].cluster;
    }
  }
  return same;
}

}  // namespace execcred::fuzz

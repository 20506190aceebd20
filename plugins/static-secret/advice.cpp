// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include "convention.hpp"

#include <algorithm>
#include <array>

namespace execcred::static_secret {
namespace {

// Each option names a place to read from instead of the hub.
constexpr std::array<std::string_view, 4> kFileSources = {
    "secret-dir", "kubeconfig-file", "client-certificate", "credential-bundle-file"};

Convention convention_of(const GivenOptions& given) {
  const Result<Convention> known = parse_convention(given.value("convention"));
  return known ? *known : conventions().front();
}

// Whether the cluster's name selects the Secret, unless --secret-name names it.
bool asks_for_cluster_name(const Convention& convention) {
  constexpr std::string_view kClusterName = "{clusterName}";
  return convention.name == "cp-creds" || convention.lookup == Lookup::argocd ||
         convention.secret_name.find(kClusterName) != std::string_view::npos ||
         convention.selector.find(kClusterName) != std::string_view::npos;
}

Format format_of(const GivenOptions& given) {
  if (given.has("kubeconfig-file")) return Format::kubeconfig;
  const Convention convention = convention_of(given);
  if (given.has("client-certificate") || given.has("credential-bundle-file") ||
      convention.lookup == Lookup::in_files) {
    return Format::certificate;
  }
  const Result<Format> format = parse_format(given.value("format"));
  return format ? *format : convention.format;
}

// Whether the format contains the server, which must be that of the ClusterProfile.
bool names_its_server(Format format) {
  return format == Format::kubeconfig || format == Format::argocd;
}

}  // namespace

// Reports problems that the plugin would otherwise find only in a run for a cluster.
std::vector<Advice> advise(const GivenOptions& given) {
  const std::string_view convention = convention_of(given).name;
  if (convention == "managed-serviceaccount" && !given.has("secret-name")) {
    return {{.severity = Advice::Severity::error,
             .message = "lacks --secret-name, which --convention=managed-serviceaccount needs",
             .hint = "name the ManagedServiceAccount: --secret-name=NAME"}};
  }
  if (convention == "istio" && !given.has("local-cluster")) {
    return {{.message = "lacks --local-cluster, so a remote Secret may take the hub's own name",
             .hint = "add --local-cluster=NAME, the cluster ID that Istio has on this hub"}};
  }
  return {};
}

std::vector<std::string> needs_of_cluster(const GivenOptions& given) {
  const Convention convention = convention_of(given);
  if (given.has("server-annotation")) return {"--server-annotation"};
  if (names_its_server(format_of(given))) {
    for (const std::string_view name : {"format", "kubeconfig-file"}) {
      if (given.has(name)) return {"--" + std::string(name)};
    }
    return {"--convention=" + std::string(convention.name)};
  }
  const bool is_named = given.has("secret-name") || given.has("cluster") ||
                        std::any_of(kFileSources.begin(), kFileSources.end(),
                                    [&given](std::string_view name) { return given.has(name); });
  if (!asks_for_cluster_name(convention) || is_named) return {};
  return {"--convention=" + std::string(convention.name)};
}

Binding binding_of_stored(const GivenOptions& given) {
  const Format format = format_of(given);
  if (given.has("server-annotation") || names_its_server(format)) {
    return {.kind = Binding::Kind::stored_server};
  }
  if (format != Format::token) return {.kind = Binding::Kind::one_server};
  // A fixed cluster name also determines the Secret that it selects.
  bool is_one_secret = given.has("cluster");
  for (const std::string_view name : {"secret-name", "secret-dir"}) {
    for (const std::string& text : given.values(name)) {
      is_one_secret |= text.find('{') == std::string::npos;
    }
  }
  return {.text = is_one_secret ? "that is one token for all of them"
                                : "the ClusterProfile also chooses whose token that is"};
}

}  // namespace execcred::static_secret

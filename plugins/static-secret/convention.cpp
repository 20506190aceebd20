// SPDX-License-Identifier: Apache-2.0
#include "convention.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace execcred::static_secret {
namespace {

using Profile = Option::Profile;

constexpr std::array<FormatFacts, 4> kFormats = {{{Format::token, "token", "token"},
                                                  {Format::kubeconfig, "kubeconfig", "kubeconfig"},
                                                  {Format::certificate, "certificate", "tls.crt"},
                                                  {Format::argocd, "argocd", "config"}}};

constexpr auto kFormatNames = names_of(kFormats);

// clang-format off
constexpr std::array<Convention, 14> kConventions = {{
    // All options; for Kueue, Flux, Fleet, Sveltos, Crossplane.
    {.name = "generic", .profile_fields = ProfileFields::both},
    // kubernetes-sigs/cluster-inventory-api, plugins/secretreader
    {.name = "secretreader", .secret_name = "{clusterName}", .key = "token"},
    // kubernetes-sigs/cluster-inventory-api, plugins/kubeconfig-secretreader
    {.name = "kubeconfig-secretreader", .format = Format::kubeconfig,
     .profile_fields = ProfileFields::kubeconfig_reader},
    // labthrust/token-secretreader
    {.name = "token-secretreader", .profile_fields = ProfileFields::token_reader},
    // open-cluster-management-io/managed-serviceaccount, cp-creds; its name needs the ServiceAccount's
    {.name = "cp-creds", .key = "token", .own_namespace = OwnNamespace::environment_first},
    // open-cluster-management-io/managed-serviceaccount, on the hub
    {.name = "managed-serviceaccount", .key = "token", .name_space = "{clusterName}",
     .selector = "authentication.open-cluster-management.io/is-managed-serviceaccount=true"},
    // KEP-4322; kubernetes-sigs/multicluster-runtime, cluster-inventory-api provider
    {.name = "cluster-profile", .format = Format::kubeconfig, .lookup = Lookup::by_labels,
     .key = "Config",
     .selector = "x-k8s.io/cluster-inventory-consumer,x-k8s.io/cluster-profile={clusterName}"},
    // kubernetes-sigs/multicluster-runtime, kubeconfig provider
    {.name = "mcr-kubeconfig", .format = Format::kubeconfig, .secret_name = "{clusterName}",
     .key = "kubeconfig", .selector = "sigs.k8s.io/multicluster-runtime-kubeconfig=true"},
    // kubernetes-sigs/cluster-api
    {.name = "cluster-api", .format = Format::kubeconfig,
     .secret_name = "{clusterName}-kubeconfig", .key = "value",
     .type = "cluster.x-k8s.io/secret",
     .selector = "cluster.x-k8s.io/cluster-name={clusterName}"},
    // istio/istio, remote secrets
    {.name = "istio", .format = Format::kubeconfig, .lookup = Lookup::istio,
     .secret_name = "istio-remote-secret-{clusterName}", .key = "{clusterName}",
     .selector = "istio/multiCluster=true"},
    // argoproj/argo-cd, declarative clusters
    {.name = "argocd", .format = Format::argocd, .lookup = Lookup::argocd,
     .key = "config", .selector = "argocd.argoproj.io/secret-type=cluster"},
    // karmada-io/karmada, the secretRef of a Cluster
    {.name = "karmada", .secret_name = "{clusterName}", .key = "token"},
    // kubernetes.io/service-account-token
    {.name = "service-account-token", .secret_name = "{clusterName}", .key = "token",
     .type = "kubernetes.io/service-account-token"},
    // istio/istio, file-mounted certificates
    {.name = "mounted-certificate", .format = Format::certificate,
     .lookup = Lookup::in_files},
}};
// clang-format on

constexpr auto kConventionNames = names_of(kConventions);

}  // namespace

std::span<const Convention> conventions() { return kConventions; }

std::span<const std::string_view> convention_names() { return kConventionNames; }

std::span<const std::string_view> format_names() { return kFormatNames; }

Result<Convention> parse_convention(std::string_view name) {
  std::vector<std::string> names;
  for (const Convention& convention : conventions()) {
    if (convention.name == name) return convention;
    names.emplace_back(convention.name);
  }
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(name) + " is no convention",
               .hint = "the conventions are " + join(names, ", ")};
}

const FormatFacts& facts_of(Format format) {
  return *std::find_if(kFormats.begin(), kFormats.end(),
                       [format](const FormatFacts& facts) { return facts.format == format; });
}

Result<Format> parse_format(std::string_view name) {
  for (const FormatFacts& facts : kFormats) {
    if (facts.name == name) return facts.format;
  }
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(name) + " is no format",
               .hint = "the formats are token, kubeconfig, certificate, argocd"};
}

void declare_profile_fields(OptionSet& options, const Convention& convention) {
  const ProfileFields fields = convention.profile_fields;
  const bool is_kubeconfig = fields == ProfileFields::kubeconfig_reader;
  const bool is_token = fields == ProfileFields::token_reader;
  const bool is_both = fields == ProfileFields::both;
  const std::string because = "--convention=" + std::string(convention.name) + " does not use it";
  for (const std::string_view name : {"secret-name", "key", "namespace", "context"}) {
    options.change(name).unused_from_profile(because);
  }
  if (fields == ProfileFields::none) return;
  constexpr Profile kAll = Profile::config_and_arguments;
  options.change("key").from_profile();
  if (!is_token) options.change("context").from_profile();
  if (is_kubeconfig) options.change("secret-name").from_profile(kAll, {"name", "secretName"});
  if (is_kubeconfig) options.change("namespace").from_profile();
  if (is_token) options.change("secret-name").from_profile();
  if (is_token) options.change("namespace").from_profile(kAll, {"secretNamespace", "namespace"});
  if (!is_both) return;
  options.change("secret-name").from_profile(kAll, {"name", "secretName"});
  options.change("namespace").from_profile(kAll, {"namespace", "secretNamespace"});
}

void declare_defaults(OptionSet& options, const Convention& convention) {
  const std::string origin = "--convention=" + std::string(convention.name);
  const auto declare = [&](std::string_view option, std::string_view text) {
    if (!text.empty()) options.change(option).default_text(text, origin);
  };
  declare("namespace", convention.name_space);
  declare("secret-name", convention.secret_name);
  declare("key", convention.key);
  declare("selector", convention.selector);
  declare("format", facts_of(convention.format).name);
}

}  // namespace execcred::static_secret

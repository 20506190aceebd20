// SPDX-License-Identifier: Apache-2.0
// The places in which other projects store the credential of a cluster: one table of their
// conventions. Each has the defaults of its project's reader; options of the same names replace
// them. --selector replaces the labels that it names.
#pragma once

#include <array>
#include <string_view>

namespace execcred::static_secret {

// The kind of a stored value.
enum class Format {
  token,        // a bearer token
  kubeconfig,   // the credential of one of its users
  certificate,  // tls.crt and tls.key (kubernetes.io/tls)
  argocd,       // name, server and config, as Argo CD declares clusters
};

struct FormatFacts {
  std::string_view name;  // as --format has it
  Format value;
  std::string_view key;  // of the Secret, unless another is named
};
inline constexpr std::array<FormatFacts, 4> kFormats = {
    {{"token", Format::token, "token"},
     {"kubeconfig", Format::kubeconfig, "kubeconfig"},
     {"certificate", Format::certificate, "tls.crt"},
     {"argocd", Format::argocd, "config"}}};

constexpr const FormatFacts& facts_of(Format format) {
  for (const FormatFacts& facts : kFormats) {
    if (facts.value == format) return facts;
  }
  return kFormats.front();
}

// How the Secret is found.
enum class Lookup {
  by_name,    // one GET; the selector, if any, must match what came
  by_labels,  // exactly one Secret matches the selector
  istio,      // GET istio-remote-secret-<cluster>, else a list; the key is the cluster's
  argocd,     // a list; the value of `name` is the cluster's
  in_files,   // no Secret: a certificate and its key on disk
};

// The namespace of this process: the first of these that is known.
enum class OwnNamespace {
  kubeconfig_first,   // the kubeconfig's context, the Pod's, "default"
  environment_first,  // NAMESPACE, the Pod's, the kubeconfig's context, "default"
};

// The fields that a ClusterProfile may set besides clusterName, in the spelling of the convention's
// reader.
enum class ProfileFields {
  none,
  kubeconfig_reader,  // name, key, namespace, context
  token_reader,       // secretName, secretNamespace, key
  both,
};

struct Convention {
  std::string_view name;
  Format format = Format::token;
  Lookup lookup = Lookup::by_name;
  std::string_view secret_name = {};  // template; empty: an option or the profile gives it
  std::string_view key = {};          // template; empty: likewise
  std::string_view name_space = {};   // template; empty: this side's own
  std::string_view type = {};         // that the Secret must have
  std::string_view selector = {};     // template
  OwnNamespace own_namespace = OwnNamespace::kubeconfig_first;
  ProfileFields profile_fields = ProfileFields::none;
};

// clang-format off
inline constexpr std::array<Convention, 14> kConventions = {{
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

// The convention of this name; the default, generic, if there is none.
constexpr const Convention& convention_of(std::string_view name) {
  for (const Convention& convention : kConventions) {
    if (convention.name == name) return convention;
  }
  return kConventions.front();
}

}  // namespace execcred::static_secret

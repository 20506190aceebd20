// SPDX-License-Identifier: Apache-2.0
#include "lint_static_secret.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>

namespace execcred::lint {
namespace {

using Texts = std::vector<std::string>;

using static_secret::Convention;
using static_secret::Format;

// Each is a place to read from instead of the hub.
constexpr std::array<std::string_view, 3> kFileSources = {"secret-dir", "kubeconfig-file",
                                                          "client-certificate"};

std::string value_of(const ExecConfig& exec, const PluginOptions& options, std::string_view name) {
  const Texts values = values_of(exec, options, name);
  return values.empty() ? std::string() : values.front();
}

Convention convention_of(const ExecConfig& exec, const PluginOptions& options) {
  const Result<Convention> known =
      static_secret::parse_convention(value_of(exec, options, "convention"));
  return known ? *known : static_secret::conventions().front();
}

// Unless --secret-name names the Secret.
bool asks_for_cluster_name(const Convention& convention) {
  constexpr std::string_view kClusterName = "{clusterName}";
  return convention.name == "cp-creds" || convention.lookup == static_secret::Lookup::argocd ||
         convention.secret_name.find(kClusterName) != std::string_view::npos ||
         convention.selector.find(kClusterName) != std::string_view::npos;
}

Format format_of(const ExecConfig& exec, const PluginOptions& options) {
  if (is_given(exec, options, "kubeconfig-file")) return Format::kubeconfig;
  if (is_given(exec, options, "client-certificate")) return Format::certificate;
  const Result<Format> format = static_secret::parse_format(value_of(exec, options, "format"));
  return format ? *format : convention_of(exec, options).format;
}

// Formats that name their server, which must be that of the ClusterProfile.
bool names_its_server(Format format) {
  return format == Format::kubeconfig || format == Format::argocd;
}

std::vector<std::string_view> file_sources(const ExecConfig& exec, const PluginOptions& options) {
  std::vector<std::string_view> given;
  std::copy_if(kFileSources.begin(), kFileSources.end(), std::back_inserter(given),
               [&](std::string_view name) { return is_given(exec, options, name); });
  return given;
}

// What the plugin finds out only when it is asked for a cluster.
void check_convention(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                      const std::string& args) {
  const std::string_view convention = convention_of(exec, options).name;
  if (convention == "managed-serviceaccount" && !is_given(exec, options, "secret-name")) {
    scope.error(args, "lacks --secret-name, which --convention=managed-serviceaccount needs",
                "name the ManagedServiceAccount: --secret-name=NAME");
  }
  if (convention == "istio" && !is_given(exec, options, "local-cluster")) {
    scope.warning(args, "lacks --local-cluster, so a remote Secret may take the hub's own name",
                  "add --local-cluster=NAME, the cluster ID that Istio has on this hub");
  }
}

bool is_broad(std::string_view pattern) {
  constexpr std::string_view kScheme = "https://";
  if (pattern.starts_with(kScheme)) pattern.remove_prefix(kScheme.size());
  return pattern.starts_with('*') ||
         (pattern.starts_with('[') && pattern.find('/') < pattern.find(']'));
}

void check_openings(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                    const std::string& args) {
  for (const Argument& argument : split_arguments(exec.args, &options.set())) {
    const std::string place = args + step(argument.index);
    if (argument.name == "allow-server-mismatch" && is_broad(argument.value)) {
      scope.warning(place,
                    "has --allow-server-mismatch for many hosts: each of them may be given the "
                    "credential of any cluster",
                    "name the proxy's host exactly: https://HOST[:PORT]/*");
    }
    if (argument.name == "allow-field") {
      scope.warning(place,
                    "has --allow-field, which lets whoever writes the Secret choose a file of this "
                    "machine as the credential",
                    "put the data into the kubeconfig instead of a path");
    }
  }
}

}  // namespace

std::vector<std::string> needs_of_static_secret(const ExecConfig& exec,
                                                const PluginOptions& options) {
  const Convention convention = convention_of(exec, options);
  if (is_given(exec, options, "server-annotation")) return {"--server-annotation"};
  if (names_its_server(format_of(exec, options))) {
    for (const std::string_view name : {"format", "kubeconfig-file"}) {
      if (is_given(exec, options, name)) return {"--" + std::string(name)};
    }
    return {"--convention=" + std::string(convention.name)};
  }
  const bool is_named = is_given(exec, options, "secret-name") ||
                        is_given(exec, options, "cluster") || !file_sources(exec, options).empty();
  if (!asks_for_cluster_name(convention) || is_named) return {};
  return {"--convention=" + std::string(convention.name)};
}

std::string_view reach_of_static_secret(const ExecConfig& exec, const PluginOptions& options) {
  if (format_of(exec, options) != Format::token) return {};
  if (is_given(exec, options, "server-annotation")) return {};
  // Whoever fixes the cluster's name fixes what is found by it.
  bool is_one_secret = is_given(exec, options, "cluster");
  for (const std::string_view name : {"secret-name", "secret-dir"}) {
    for (const std::string& text : values_of(exec, options, name)) {
      if (text.find("{server.host}") != std::string::npos) return {};
      is_one_secret |= text.find('{') == std::string::npos;
    }
  }
  return is_one_secret ? "that is one token for all of them"
                       : "the ClusterProfile also chooses whose token that is";
}

void check_static_secret(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                         const std::string& path) {
  const std::string args = join_path(path, "args");
  check_convention(scope, exec, options, args);
  check_openings(scope, exec, options, args);
}

}  // namespace execcred::lint

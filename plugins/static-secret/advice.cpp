// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace execcred::static_secret {
namespace {

// Whether the cluster's name selects the Secret, unless --secret-name names it.
bool asks_for_cluster_name(const Convention& convention) {
  constexpr std::string_view kClusterName = "{clusterName}";
  return convention.name == "cp-creds" || convention.lookup == Lookup::argocd ||
         convention.secret_name.find(kClusterName) != std::string_view::npos ||
         convention.selector.find(kClusterName) != std::string_view::npos;
}

Format format_of(const Options& options) {
  if (!options.kubeconfig_file.empty()) return Format::kubeconfig;
  const bool is_pair =
      !options.client_certificate.empty() || !options.credential_bundle_file.empty();
  return is_pair || options.convention.lookup == Lookup::in_files ? Format::certificate
                                                                  : options.what();
}

// Whether the format contains the server, which must be that of the ClusterProfile.
bool names_its_server(Format format) {
  return format == Format::kubeconfig || format == Format::argocd;
}

// Says which labels of the convention the selector replaces, but for those that may have any value.
void advise_on_selector(const Options& options, std::vector<Finding>& findings) {
  for (const std::string_view label : split(options.convention.selector, ',')) {
    const std::size_t equals = label.find('=');
    if (equals == std::string_view::npos) continue;
    const Result<LabelSelector> key = LabelSelector::parse(label.substr(0, equals));
    const bool is_replaced =
        key && options.selector.with_defaults(*key).text() != options.selector.with(*key).text();
    const std::string text = options.selector.text();
    const std::vector<std::string_view> parts = split(text, ',');
    if (!is_replaced || std::find(parts.begin(), parts.end(), label) != parts.end()) continue;
    findings.push_back(
        {.error = {.message = "lets --selector replace the convention's label " + in_quotes(label),
                   .hint = "leave this label out of --selector; for another condition on it use "
                           "--require-label"}});
  }
}

// The option that needs spec.cluster; empty if none does.
std::string need_of_cluster(const Options& options, const Settings& settings) {
  if (!options.server_annotation.empty()) return "--server-annotation";
  const std::string convention = "--convention=" + std::string(options.convention.name);
  if (names_its_server(format_of(options))) {
    if (options.format) return "--format";
    return options.kubeconfig_file.empty() ? convention : "--kubeconfig-file";
  }
  const bool is_named =
      settings.is_given("secret-name") || settings.is_given("cluster") || !options.is_from_hub();
  return asks_for_cluster_name(options.convention) && !is_named ? convention : std::string();
}

// Whether the mapping names the Secret. A fixed cluster name also determines the Secret that it
// selects.
bool names_one_secret(const Settings& settings) {
  if (settings.is_given("cluster")) return true;
  for (const std::string_view option : {"secret-name", "secret-dir"}) {
    for (const std::string& text : settings.given(option)) {
      if (text.find('{') == std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

void advise(const Options& options, std::vector<Finding>& findings) {
  advise_on_selector(options, findings);
  const std::string_view convention = options.convention.name;
  if (convention == "managed-serviceaccount" && options.secret_name.empty()) {
    findings.push_back(
        {.severity = Finding::Severity::error,
         .error = {
             .message = "lacks --secret-name, which --convention=managed-serviceaccount needs",
             .hint = "name the ManagedServiceAccount: --secret-name=NAME"}});
  }
  if (convention == "istio" && options.local_cluster.empty()) {
    findings.push_back(
        {.error = {
             .message = "lacks --local-cluster, so a remote Secret may take the hub's own name",
             .hint = "add --local-cluster=NAME, the cluster ID that Istio has on this hub"}});
  }
}

Binding binding_of_stored(const Options& options, const Settings& settings) {
  Binding binding;
  const std::string need = need_of_cluster(options, settings);
  if (!need.empty()) binding.needs_cluster = {need};
  const Format format = format_of(options);
  if (!options.server_annotation.empty() || names_its_server(format)) {
    binding.kind = Binding::Kind::stored_server;
  } else if (format != Format::token) {
    binding.kind = Binding::Kind::one_server;
  } else {
    binding.text = names_one_secret(settings)
                       ? "that is one token for all of them"
                       : "the ClusterProfile also chooses whose token that is";
  }
  return binding;
}

}  // namespace execcred::static_secret

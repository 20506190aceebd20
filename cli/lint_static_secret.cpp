// SPDX-License-Identifier: Apache-2.0
#include "lint_static_secret.hpp"

#include <execcred/label_selector.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace execcred::lint {
namespace {

using Texts = std::vector<std::string>;

// What docs/execcred-static-secret.md tells of each convention, as far as it decides what is open.
struct Convention {
  std::string_view name;
  std::string_view format;
  bool asks_for_cluster_name;  // unless --secret-name names the Secret
  bool checks_labels_or_type = false;
};
constexpr std::array<Convention, 14> kConventions = {{
    {"secretreader", "token", true},
    {"kubeconfig-secretreader", "kubeconfig", false},
    {"token-secretreader", "token", false},
    {"cp-creds", "token", true},
    {"managed-serviceaccount", "token", false, true},
    {"cluster-profile", "kubeconfig", true, true},
    {"mcr-kubeconfig", "kubeconfig", true, true},
    {"cluster-api", "kubeconfig", true, true},
    {"istio", "kubeconfig", true, true},
    {"argocd", "argocd", true, true},
    {"karmada", "token", true},
    {"service-account-token", "token", true, true},
    {"mounted-certificate", "certificate", false},
    {"generic", "token", false},
}};
constexpr std::array<std::string_view, 4> kFormats = {"token", "kubeconfig", "certificate",
                                                      "argocd"};
constexpr std::array<std::string_view, 3> kFields = {"clientKey", "clientCertificate", "tokenFile"};
// Each is a place to read from instead of the hub.
constexpr std::array<std::string_view, 3> kFileSources = {"secret-dir", "kubeconfig-file",
                                                          "client-certificate"};

template <class Names>
Result<std::string> one_of(const std::string& text, const Names& names) {
  if (std::find(names.begin(), names.end(), text) != names.end()) return text;
  return Error{
      .kind = Error::Kind::configuration,
      .message = in_quotes(text) + " is none of " + join(Texts(names.begin(), names.end()), ", ")};
}

std::string value_of(const ExecConfig& exec, const PluginOptions& options, std::string_view name) {
  const Texts values = values_of(exec, options, name);
  return values.empty() ? std::string() : values.front();
}

Convention convention_of(const ExecConfig& exec, const PluginOptions& options) {
  const std::string name = value_of(exec, options, "convention");
  const auto known =
      std::find_if(kConventions.begin(), kConventions.end(),
                   [&name](const Convention& convention) { return convention.name == name; });
  return known == kConventions.end() ? kConventions.back() : *known;
}

std::string format_of(const ExecConfig& exec, const PluginOptions& options) {
  if (is_given(exec, options, "kubeconfig-file")) return "kubeconfig";
  if (is_given(exec, options, "client-certificate")) return "certificate";
  const std::string format = value_of(exec, options, "format");
  return format.empty() ? std::string(convention_of(exec, options).format) : format;
}

// Formats that name their server, which must be that of the ClusterProfile.
bool names_its_server(const std::string& format) {
  return format == "kubeconfig" || format == "argocd";
}

std::vector<std::string_view> file_sources(const ExecConfig& exec, const PluginOptions& options) {
  std::vector<std::string_view> given;
  std::copy_if(kFileSources.begin(), kFileSources.end(), std::back_inserter(given),
               [&](std::string_view name) { return is_given(exec, options, name); });
  return given;
}

std::string flags(const std::vector<std::string_view>& names) {
  return "--" + join(Texts(names.begin(), names.end()), " and --");
}

void check_sources(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                   const std::string& args) {
  const std::vector<std::string_view> sources = file_sources(exec, options);
  if (is_given(exec, options, "client-certificate") != is_given(exec, options, "client-key")) {
    scope.error(args, "has one of --client-certificate and --client-key without the other",
                "give both files, or neither");
  }
  if (sources.size() > 1) {
    scope.error(args, "has " + flags(sources) + ", which exclude each other",
                "one of them says where the credential is");
  }
  if (!sources.empty() && is_given(exec, options, "kubeconfig")) {
    scope.warning(args, "has --kubeconfig, but " + flags(sources) + " asks no hub",
                  "leave out what is not meant; a stored kubeconfig is --kubeconfig-file");
  }
}

// Files have no labels, type or annotations, so such a check could only fail.
void check_vain_checks(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                       const std::string& args) {
  const std::vector<std::string_view> sources = file_sources(exec, options);
  if (sources.empty()) return;
  const std::string reason =
      ", but " + flags(sources) + " reads files, which have no labels, " + "type or annotations";
  for (const std::string_view name : {"selector", "require-label", "server-annotation"}) {
    if (!is_given(exec, options, name)) continue;
    scope.error(args, "has --" + std::string(name) + reason,
                "leave it out, or read the Secret from the hub");
  }
  const Convention convention = convention_of(exec, options);
  if (convention.checks_labels_or_type) {
    scope.error(args, "has --convention=" + std::string(convention.name) + reason,
                "use --convention=generic with --key and --format");
  }
}

void check_convention(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                      const std::string& args) {
  const std::string_view convention = convention_of(exec, options).name;
  const bool is_named = is_given(exec, options, "secret-name");
  const bool has_account = is_given(exec, options, "managed-serviceaccount");
  if (convention == "cp-creds" && !has_account && !is_named) {
    scope.error(args, "lacks --managed-serviceaccount, which --convention=cp-creds needs",
                "add --managed-serviceaccount=NAME");
  }
  if (convention != "cp-creds" && has_account) {
    scope.error(args, "has --managed-serviceaccount, an option of --convention=cp-creds alone",
                "--convention=managed-serviceaccount takes --secret-name");
  }
  if (convention == "managed-serviceaccount" && !is_named) {
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

Result<std::string> parse_convention(const std::string& text) {
  std::array<std::string_view, kConventions.size()> names;
  std::transform(kConventions.begin(), kConventions.end(), names.begin(),
                 [](const Convention& convention) { return convention.name; });
  return one_of(text, names);
}

Result<std::string> parse_stored_format(const std::string& text) { return one_of(text, kFormats); }

Result<std::string> parse_allowed_field(const std::string& text) { return one_of(text, kFields); }

Result<std::string> parse_label(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const bool is_label = equals < text.size() && is_label_key(text.substr(0, equals)) &&
                        is_label_value(text.substr(equals + 1));
  if (is_label) return text;
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(text) + " is no label: it must be KEY=VALUE"};
}

Result<std::string> parse_selector(const std::string& text) {
  const Result<LabelSelector> selector = LabelSelector::parse(text);
  if (selector) return text;
  return selector.error();
}

Result<std::string> parse_allowed_namespace(const std::string& text) {
  if (is_dns1123_label(text)) return text;
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(text) +
                          " is no namespace: it must be a DNS-1123 label, or "
                          "'any'"};
}

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
  if (!convention.asks_for_cluster_name || is_named) return {};
  return {"--convention=" + std::string(convention.name)};
}

std::string_view reach_of_static_secret(const ExecConfig& exec, const PluginOptions& options) {
  if (format_of(exec, options) != "token") return {};
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
  check_sources(scope, exec, options, args);
  check_vain_checks(scope, exec, options, args);
  check_convention(scope, exec, options, args);
  check_openings(scope, exec, options, args);
}

}  // namespace execcred::lint

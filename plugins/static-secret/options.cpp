// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/kube/stored_secret.hpp>

#include <algorithm>

namespace execcred::static_secret {
namespace {

Error wrong(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::configuration, .message = std::move(message), .hint = std::move(hint)};
}

Result<RequiredLabel> parse_required_label(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return wrong(in_quotes(text) + " is not KEY=VALUE");
  RequiredLabel label{.key = text.substr(0, equals), .value = text.substr(equals + 1)};
  if (is_label_key(label.key) && is_label_value(label.value)) return label;
  return wrong(in_quotes(text) + " is no label");
}

Result<std::string> parse_allowed_namespace(const std::string& text) {
  if (text == "any" || is_dns1123_label(text)) return text;
  return wrong(in_quotes(text) + " is neither a namespace nor any");
}

Result<std::string> parse_allowed_field(const std::string& text) {
  if (text == "clientKey" || text == "clientCertificate" || text == "tokenFile") return text;
  return wrong(in_quotes(text) + " is no field that can be allowed",
               "the fields are clientKey, clientCertificate, tokenFile");
}

Result<std::string> parse_annotation(const std::string& text) {
  if (is_label_key(text)) return text;
  return wrong(in_quotes(text) + " is no annotation's key");
}

bool is_broad(std::string_view pattern) {
  constexpr std::string_view kScheme = "https://";
  if (pattern.starts_with(kScheme)) pattern.remove_prefix(kScheme.size());
  return pattern.starts_with('*') ||
         (pattern.starts_with('[') && pattern.find('/') < pattern.find(']'));
}

void add_places(OptionSet& set, Options& options) {
  set.add_parsed("convention", options.convention, "NAME",
                 "Whose way of storing credentials it is; sets the defaults below",
                 [](const std::string& text) { return parse_convention(text); })
      .default_text("generic");
  set.add("kubeconfig", options.kubeconfig, "PATH", "The hub's; else the Pod's service account")
      .variable("KUBECONFIG");
  set.add("secret-dir", options.secret_dir, "PATH",
          "Instead of the hub: the folder of a mounted Secret; {clusterName} and {server.host} "
          "are filled in")
      .with_template();
  set.add("kubeconfig-file", options.kubeconfig_file, "PATH",
          "Instead of the hub: a stored kubeconfig");
  set.add("client-certificate", options.client_certificate, "PATH",
          "Instead of the hub: a certificate, with --client-key");
  set.add("client-key", options.client_key, "PATH", "The key of --client-certificate");
}

void add_names(OptionSet& set, Options& options) {
  set.add("namespace", options.name_space, "NAMESPACE", "The Secret's; else this side's own")
      .with_template();
  set.add("secret-name", options.secret_name, "NAME",
          "The Secret's; {clusterName} and {server.host} are filled in")
      .with_template();
  set.add("key", options.key, "KEY", "The key of the Secret that holds it").with_template();
  set.add_parsed("selector", options.selector, "SELECTOR", "Labels that the Secret must have",
                 [](const std::string& text) { return LabelSelector::parse(text); });
  set.add_parsed("format", options.format, "token|kubeconfig|certificate|argocd",
                 "What is stored there",
                 [](const std::string& text) -> Result<std::optional<Format>> {
                   const Format format = TRY(parse_format(text));
                   return std::optional(format);
                 });
  set.add("context", options.context, "NAME", "Of the stored kubeconfig; else its current one");
  set.add("managed-serviceaccount", options.managed_service_account, "NAME",
          "With --convention=cp-creds: the Secret is CLUSTER-NAME");
}

void add_rules(OptionSet& set, Options& options) {
  set.add_parsed("allow-namespace", options.allow_namespaces, "NAMESPACE|any",
                 "Also from this namespace, if a ClusterProfile or a template names it",
                 parse_allowed_namespace)
      .no_environment()
      .weakens("lets a ClusterProfile choose a Secret of any namespace", {},
               [](std::string_view name) { return name == "any"; });
  set.add_parsed("require-label", options.require_labels, "KEY=VALUE",
                 "Only a Secret with this label", parse_required_label);
  set.add_parsed("server-annotation", options.server_annotation, "KEY",
                 "The Secret's annotation that must equal spec.cluster.server", parse_annotation);
  set.add_parsed(
         "allow-server-mismatch", options.allow_server_mismatch, "PATTERN",
         "A spec.cluster.server that may differ from the stored one",
         [](const std::string& text) { return UrlPattern::parse(text, UrlPattern::Use::server); })
      .no_environment()
      .weakens(
          "allows it for many hosts: each of them may be given the credential of any "
          "cluster",
          "name the proxy's host exactly: https://HOST[:PORT]/*", is_broad);
  set.add("allow-hub-token", options.allow_hub_token,
          "Give away tokens of the hub's own service accounts too")
      .no_environment()
      .weakens("lets the hub's own tokens be given away");
  set.add("allow-insecure", options.allow_insecure,
          "Also where the server's certificate is not verified")
      .no_environment()
      .weakens("gives tokens to servers whose certificate is not checked");
  set.add("allow-profile-ca", options.allow_profile_ca,
          "Take the ClusterProfile's CA where what is stored has none, and so trusts the system's")
      .no_environment()
      .weakens("lets a ClusterProfile choose the CA where none is stored");
  set.add_parsed("allow-field", options.allow_fields, "clientKey|clientCertificate|tokenFile",
                 "Let a stored kubeconfig name such a file of this machine", parse_allowed_field)
      .no_environment()
      .weakens("lets the writer of the Secret choose a file of this machine as the credential",
               "put the data into the kubeconfig instead of a path");
  set.add("local-cluster", options.local_cluster, "NAME",
          "The cluster of this side, which no stored kubeconfig may describe");
  set.add("both", options.both, "Where there are both, the token and the certificate")
      .no_environment();
}

bool has_checks(const Options& options) {
  return !options.selector.empty() || !options.require_labels.empty() ||
         !options.server_annotation.empty() || !options.convention.type.empty() ||
         !options.convention.selector.empty();
}

}  // namespace

bool Options::is_from_hub() const {
  return secret_dir.empty() && kubeconfig_file.empty() && client_certificate.empty() &&
         convention.lookup != Lookup::in_files;
}

void add_options(OptionSet& set, Options& options) {
  add_places(set, options);
  add_names(set, options);
  add_rules(set, options);
  declare_profile_fields(set, conventions().front());
}

Status check_options(const Options& options) {
  const bool has_pair = !options.client_certificate.empty();
  if (has_pair == options.client_key.empty()) {
    return wrong("--client-certificate and --client-key go together");
  }
  const int places = (options.secret_dir.empty() ? 0 : 1) +
                     (options.kubeconfig_file.empty() ? 0 : 1) + (has_pair ? 1 : 0);
  if (places > 1) {
    return wrong("--secret-dir, --kubeconfig-file and --client-certificate exclude each other",
                 "one of them says where the credential is");
  }
  if (!options.kubeconfig_file.empty() && options.convention.lookup == Lookup::in_files) {
    return wrong("--kubeconfig-file is no place of certificate files",
                 "leave --convention=" + std::string(options.convention.name) + " out");
  }
  if (!options.is_from_hub() && has_checks(options)) {
    const bool is_conventions =
        !options.convention.type.empty() || !options.convention.selector.empty();
    const std::string problem =
        "labels, type and annotations can only be checked on a Secret of the hub's API";
    if (is_conventions) {
      return wrong(
          problem + ", and --convention=" + std::string(options.convention.name) + " demands some",
          "for files use --convention=generic with --key and --format");
    }
    return wrong(problem, "leave --selector, --require-label and --server-annotation out");
  }
  const bool is_cp_creds = options.convention.name == "cp-creds";
  if (!options.managed_service_account.empty() && !is_cp_creds) {
    return wrong("--managed-serviceaccount is an option of --convention=cp-creds",
                 "--convention=managed-serviceaccount takes --secret-name");
  }
  if (is_cp_creds && options.managed_service_account.empty() && options.secret_name.empty()) {
    return wrong("--convention=cp-creds needs --managed-serviceaccount=NAME",
                 "the Secret is {clusterName}-NAME; --secret-name=NAME gives another one");
  }
  return {};
}

}  // namespace execcred::static_secret

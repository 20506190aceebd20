// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <array>
#include <span>

namespace execcred::static_secret {
namespace {

Result<LabelSelector> parse_required_label(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    return Error::configuration(in_quotes(text) + " is not KEY=VALUE");
  const std::string_view label = text;
  if (is_label_key(label.substr(0, equals)) && is_label_value(label.substr(equals + 1))) {
    return LabelSelector::parse(text);
  }
  return Error::configuration(in_quotes(text) + " is no label");
}

Result<std::string> parse_allowed_namespace(const std::string& text) {
  if (text == "any" || is_dns1123_label(text)) return text;
  return Error::configuration(in_quotes(text) + " is neither a namespace nor any");
}

Result<std::string> parse_annotation(const std::string& text) {
  if (is_label_key(text)) return text;
  return Error::configuration(in_quotes(text) + " is no annotation's key");
}

bool is_broad(std::string_view pattern) {
  constexpr std::string_view kScheme = "https://";
  if (pattern.starts_with(kScheme)) pattern.remove_prefix(kScheme.size());
  return pattern.starts_with('*') ||
         (pattern.starts_with('[') && pattern.find('/') < pattern.find(']'));
}

constexpr std::array<std::string_view, 1> kAnyWord = {"any"};
constexpr std::array<std::string_view, 3> kFieldNames = {"clientKey", "clientCertificate",
                                                         "tokenFile"};

// The conventions whose ClusterProfiles have the fields of one of these readers. What is left of
// the array stands for an unset --convention, which is generic.
constexpr auto conventions_of(bool kubeconfig_reader, bool token_reader) {
  std::array<std::string_view, kConventions.size()> names = {};
  std::size_t count = 0;
  for (const Convention& convention : kConventions) {
    const ProfileFields fields = convention.profile_fields;
    if (fields == ProfileFields::both ||
        (kubeconfig_reader && fields == ProfileFields::kubeconfig_reader) ||
        (token_reader && fields == ProfileFields::token_reader)) {
      names[count++] = convention.name;
    }
  }
  return names;
}
constexpr auto kKubeconfigReaders = conventions_of(true, false);
constexpr auto kTokenReaders = conventions_of(false, true);
constexpr auto kReaders = conventions_of(true, true);

// The sources besides the hub. A mounted Secret has keys in formats too, and a kubeconfig has
// contexts.
constexpr std::array<std::string_view, 4> kOtherSources = {
    "secret-dir", "kubeconfig-file", "client-certificate", "credential-bundle-file"};
constexpr std::span<const std::string_view> kWithoutName = kOtherSources;
constexpr std::span<const std::string_view> kWithoutKey = kWithoutName.subspan(1);
constexpr std::span<const std::string_view> kWithoutContext = kWithoutName.subspan(2);
constexpr std::span<const std::string_view> kWithoutHub = kWithoutName.subspan(3);

void add_places(OptionSet& set, Options& options) {
  set.group("Credential source");
  set.add_choice<kConventions>("convention", options.convention, "NAME",
                               "How the credential is stored; sets defaults of other options",
                               "convention")
      .default_text("generic");
  set.add("kubeconfig", options.kubeconfig, "PATH",
          "Kubeconfig of the hub; without it the Pod's service account")
      .variable("KUBECONFIG")
      .not_with(kWithoutHub);
  set.add("secret-dir", options.secret_dir, "PATH",
          "Directory of a mounted Secret, instead of the hub")
      .directory()
      .with_template();
  set.add("kubeconfig-file", options.kubeconfig_file, "PATH",
          "Stored kubeconfig, instead of the hub");
  set.add("client-certificate", options.client_certificate, "PATH",
          "Certificate, with --client-key, instead of the hub");
  set.add("client-key", options.client_key, "PATH", "Private key of --client-certificate");
  set.add("credential-bundle-file", options.credential_bundle_file, "PATH",
          "Private key and certificates in one PEM file, instead of the hub");
}

// A field that only other conventions have is ignored, as the convention's own reader does, so that
// a fleet can change its convention.
void add_names(OptionSet& set, Options& options) {
  constexpr std::string_view kBy = "convention";
  constexpr auto kProfile = Option::Profile::config_and_arguments;
  set.add("namespace", options.name_space, "NAMESPACE",
          "Namespace of the Secret; without it the plugin's own")
      .from_profile(kProfile, {"namespace", "secretNamespace"})
      .field_only_for("namespace", kBy, kReaders)
      .field_only_for("secretNamespace", kBy, kTokenReaders)
      .allowed_by("allow-namespace")
      .default_by(kBy, [](std::string_view name) { return convention_of(name).name_space; })
      .form(kNamespaceForm)
      .with_template()
      .not_with(kWithoutName);
  set.add("secret-name", options.secret_name, "NAME", "Name of the Secret")
      .from_profile(kProfile, {"name", "secretName"})
      .field_only_for("name", kBy, kKubeconfigReaders)
      .field_only_for("secretName", kBy, kReaders)
      .default_by(kBy, [](std::string_view name) { return convention_of(name).secret_name; })
      .form(kSecretNameForm)
      .example("{clusterName}-token")
      .with_template()
      .not_with(kWithoutName);
  set.add("key", options.key, "KEY", "Key in the Secret's data")
      .from_profile()
      .field_only_for("key", kBy, kReaders)
      .default_by(kBy, [](std::string_view name) { return convention_of(name).key; })
      .form(kKeyForm)
      .with_template()
      .not_with(kWithoutKey);
  set.add_parsed("selector", options.selector, "SELECTOR", "Labels that the Secret must have",
                 [](const std::string& text) { return LabelSelector::parse(text); })
      .default_by(kBy, [](std::string_view name) { return convention_of(name).selector; });
  set.add_choice<kFormats>("format", options.format, "token|kubeconfig|certificate|argocd",
                           "Format of the stored credential", "format")
      .default_by(kBy,
                  [](std::string_view name) { return facts_of(convention_of(name).format).name; })
      .not_with(kWithoutKey);
  set.add("context", options.context, "NAME",
          "Context of the stored kubeconfig; without it the current one")
      .from_profile()
      .field_only_for("context", kBy, kKubeconfigReaders)
      .not_with(kWithoutContext);
  set.add("managed-serviceaccount", options.managed_service_account, "NAME",
          "With --convention=cp-creds: the Secret is CLUSTER-NAME");
}

void add_rules(OptionSet& set, Options& options) {
  set.group("Access rules");
  set.add_parsed("allow-namespace", options.allow_namespaces, "NAMESPACE|any",
                 "Namespace that a ClusterProfile or a template may name", parse_allowed_namespace)
      .no_environment()
      .choices_besides_others(kAnyWord)
      .weakens("lets a ClusterProfile choose a Secret of any namespace", {},
               [](std::string_view name) { return name == "any"; });
  set.add_parsed("require-label", options.require_labels, "KEY=VALUE",
                 "Take only a Secret with this label", parse_required_label);
  set.add_parsed("server-annotation", options.server_annotation, "KEY",
                 "Annotation of the Secret that must equal spec.cluster.server", parse_annotation);
  set.add_parsed(
         "allow-server-mismatch", options.allow_server_mismatch, "PATTERN",
         "Server that may differ from the stored one",
         [](const std::string& text) { return UrlPattern::parse(text, UrlPattern::Use::server); })
      .no_environment()
      .excepts_servers()
      .weakens(
          "allows it for many hosts: each of them may be given the credential of any "
          "cluster",
          "name the proxy's host exactly: https://HOST[:PORT]/*", is_broad);
  set.add("allow-hub-token", options.allow_hub_token,
          "Also give tokens of the hub's own service accounts")
      .no_environment()
      .weakens("lets the hub's own tokens be sent to other servers");
  set.add("allow-insecure", options.allow_insecure,
          "Give a token also where the server's certificate is not verified")
      .no_environment()
      .weakens("gives tokens to servers whose certificate is not checked");
  set.add("allow-profile-ca", options.allow_profile_ca,
          "Accept a ClusterProfile's CA where none is stored")
      .no_environment()
      .weakens("lets a ClusterProfile choose the CA where none is stored");
  set.add("allow-field", options.allow_fields, "clientKey|clientCertificate|tokenFile",
          "Field by which a stored kubeconfig may name a file here")
      .no_environment()
      .choices(kFieldNames, "field that can be allowed")
      .weakens("lets the writer of the Secret choose a file of this machine as the credential",
               "put the data into the kubeconfig instead of a path");
  set.add("local-cluster", options.local_cluster, "NAME",
          "Cluster ID of this side, which no stored kubeconfig may have");
  set.group("Credential source");
  set.add("both", options.both, "Give the token and the certificate, where both are stored")
      .no_environment()
      .not_with(kWithoutContext);
}

bool has_checks(const Options& options) {
  return !options.selector.empty() || !options.require_labels.empty() ||
         !options.server_annotation.empty() || !options.convention.type.empty() ||
         !options.convention.selector.empty();
}

// What only a Secret of the hub has is not demanded of files.
Status check_demands(const Options& options) {
  if (options.is_from_hub() || !has_checks(options)) return {};
  const bool is_conventions =
      !options.convention.type.empty() || !options.convention.selector.empty();
  const std::string problem =
      "labels, type and annotations can only be checked on a Secret of the hub's API";
  if (is_conventions) {
    return Error::configuration(
        problem + ", and --convention=" + std::string(options.convention.name) + " demands some",
        "for files use --convention=generic with --key and --format");
  }
  return Error::configuration(problem,
                              "leave --selector, --require-label and --server-annotation out");
}

}  // namespace

bool Options::is_from_hub() const {
  return secret_dir.empty() && kubeconfig_file.empty() && client_certificate.empty() &&
         credential_bundle_file.empty() && convention.lookup != Lookup::in_files;
}

void add_options(OptionSet& set, Options& options) {
  add_places(set, options);
  add_names(set, options);
  add_rules(set, options);
}

Status check_options(const Options& options, const Settings& settings) {
  const bool has_pair = !options.client_certificate.empty();
  if (has_pair == options.client_key.empty()) {
    return Error::configuration("--client-certificate and --client-key go together");
  }
  const int places = (options.secret_dir.empty() ? 0 : 1) +
                     (options.kubeconfig_file.empty() ? 0 : 1) + (has_pair ? 1 : 0) +
                     (options.credential_bundle_file.empty() ? 0 : 1);
  if (places > 1) {
    return Error::configuration(
        "--secret-dir, --kubeconfig-file, --client-certificate and --credential-bundle-file "
        "exclude each other",
        "one of them says where the credential is");
  }
  if (!options.credential_bundle_file.empty() && options.convention.lookup == Lookup::in_files) {
    return Error::configuration("--credential-bundle-file is not read by --convention=" +
                                    std::string(options.convention.name),
                                "leave the convention out");
  }
  if (!options.kubeconfig_file.empty() && options.convention.lookup == Lookup::in_files) {
    return Error::configuration(
        "--kubeconfig-file is no place of certificate files",
        "leave --convention=" + std::string(options.convention.name) + " out");
  }
  TRY(check_demands(options));
  const bool has_contexts =
      !options.kubeconfig_file.empty() || options.what() == Format::kubeconfig;
  if (settings.is_flag("context") && !has_contexts) {
    return Error::configuration("--context has no use: the stored credential is no kubeconfig",
                                "leave it out, or pass --format=kubeconfig");
  }
  const bool is_cp_creds = options.convention.name == "cp-creds";
  if (!options.managed_service_account.empty() && !is_cp_creds) {
    return Error::configuration("--managed-serviceaccount is an option of --convention=cp-creds",
                                "--convention=managed-serviceaccount takes --secret-name");
  }
  if (is_cp_creds && options.managed_service_account.empty() && options.secret_name.empty()) {
    return Error::configuration(
        "--convention=cp-creds needs --managed-serviceaccount=NAME",
        "the Secret is {clusterName}-NAME; --secret-name=NAME gives another one");
  }
  return {};
}

}  // namespace execcred::static_secret

// SPDX-License-Identifier: Apache-2.0
#include "contents.hpp"

#include "argocd.hpp"
#include "lint/remote_secrets.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/label_selector.hpp>
#include <execcred/kube/stored_secret.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred::sync {
namespace {

using json::Object;
using json::Value;

constexpr std::array<std::string_view, 5> kFormats = {"kubeconfig", "cluster-api", "argocd",
                                                      "istio", "token"};

// The shortest lifetime for the format istio, because Istio's control plane makes a new client at
// each change of a remote Secret.
constexpr std::chrono::hours kIstioLifetime(12);
// How much shorter a lifetime may be: a plugin claims less than the issuer grants, and its answer
// takes some time.
constexpr std::chrono::minutes kTolerance(2);

std::string ca_of(const Issue& issue) {
  return decode_base64(issue.access.cluster.certificate_authority_data).value_or("");
}

// The values in the folder and in the Secret of format `token`.
Contents plain_contents(const Issue& issue) {
  Contents contents;
  const Credential& credential = issue.credential;
  if (!credential.token.empty()) contents["token"] = credential.token.copy();
  if (!credential.client_certificate.empty()) {
    contents["tls.crt"] = SecretString(credential.client_certificate);
    contents["tls.key"] = credential.client_key.copy();
  }
  const std::string ca = ca_of(issue);
  if (!ca.empty()) contents["ca.crt"] = SecretString(ca);
  contents["server"] = SecretString(issue.access.cluster.server);
  if (issue.expires) contents[std::string(kEndKey)] = SecretString(format_rfc3339(*issue.expires));
  return contents;
}

Value named(std::string_view name, std::string_view kind, Value value) {
  Value object((Object()));
  object.add("name", Value(name));
  object.add(kind, std::move(value));
  json::Array list;
  list.push_back(std::move(object));
  return Value(std::move(list));
}

SecretString kubeconfig_text(const Issue& issue, Value cluster, Value user) {
  const std::string name = issue.cluster();
  Value context((Object()));
  context.add("cluster", Value(name));
  context.add("user", Value(name));
  Value document((Object()));
  document.add("apiVersion", Value("v1"));
  document.add("kind", Value("Config"));
  document.add("current-context", Value(name));
  document.add("clusters", named(name, "cluster", std::move(cluster)));
  document.add("contexts", named(name, "context", std::move(context)));
  document.add("users", named(name, "user", std::move(user)));
  std::string text = yaml::to_text(document);
  json::wipe(document);
  SecretString secret(text);
  wipe(text);
  return secret;
}

// The cluster of a kubeconfig, without the extension for plugins.
Value kubeconfig_cluster(const Issue& issue) {
  Value object((Object()));
  const Value exec_cluster = to_json(issue.access.cluster);
  for (const json::Member& member : *exec_cluster.object()) {
    if (member.name != "config") object.add(member.name, member.value);
  }
  return object;
}

SecretString kubeconfig_with_files(const Issue& issue) {
  Value cluster((Object()));
  const Value whole = kubeconfig_cluster(issue);
  for (const json::Member& member : *whole.object()) {
    if (member.name == "certificate-authority-data") {
      cluster.add("certificate-authority", Value("ca.crt"));
    } else {
      cluster.add(member.name, member.value);
    }
  }
  Value user((Object()));
  if (!issue.credential.token.empty()) user.add("tokenFile", Value("token"));
  if (!issue.credential.client_certificate.empty()) {
    user.add("client-certificate", Value("tls.crt"));
    user.add("client-key", Value("tls.key"));
  }
  return kubeconfig_text(issue, std::move(cluster), std::move(user));
}

SecretString kubeconfig_with_data(const Issue& issue) {
  const Credential& credential = issue.credential;
  Value user((Object()));
  if (!credential.token.empty()) user.add("token", Value(credential.token.reveal()));
  if (!credential.client_certificate.empty()) {
    user.add("client-certificate-data", Value(encode_base64(credential.client_certificate)));
    user.add("client-key-data", Value(encode_base64(credential.client_key.reveal())));
  }
  return kubeconfig_text(issue, kubeconfig_cluster(issue), std::move(user));
}

Result<SecretForm> argocd_form(const Issue& issue) {
  const Cluster& cluster = issue.access.cluster;
  TRY(cli::check_argocd_server(cluster.server, "reads no credential for it"));
  const Credential& credential = issue.credential;
  std::vector<json::Member> tls;
  if (!credential.client_certificate.empty()) {
    tls.push_back({"certData", Value(encode_base64(credential.client_certificate))});
    tls.push_back({"keyData", Value(encode_base64(credential.client_key.reveal()))});
  }
  Value bearer((Object()));
  if (!credential.token.empty()) bearer.add("bearerToken", Value(credential.token.reveal()));
  Value config = cli::argocd_config(cluster, std::move(bearer), std::move(tls));
  std::string text = json::to_text(config);
  json::wipe(config);
  SecretForm form{
      .labels = {{std::string(cli::kArgocdLabel), std::string(cli::kArgocdLabelValue)}}};
  form.data["name"] = SecretString(issue.cluster());
  form.data["server"] = SecretString(cluster.server);
  form.data["config"] = SecretString(text);
  wipe(text);
  return form;
}

Result<SecretForm> istio_form(const Issue& issue) {
  const auto end = issue.claimed ? issue.claimed : issue.expires;
  if (end && *end - issue.issued < kIstioLifetime - kTolerance) {
    const Duration lifetime = *end - issue.issued;
    return Error::configuration(
        "the credential lives for " + format_duration(lifetime) +
            ", and istiod rebuilds a cluster's client at each change of its Secret",
        "the format istio needs credentials with a lifetime of 12h or more: for a stored "
        "token that lives so long set --max-age=48h in the mapping's args; else "
        "configure the provider, or let istiod run the plugin");
  }
  if (!is_secret_key(issue.name)) {
    return Error::configuration(
        "the name " + in_quotes(issue.name) + " cannot be a key of a Secret",
        "rename the ClusterProfile");
  }
  SecretForm form{.labels = {{std::string(lint::kIstioLabel), "true"}},
                  .annotations = {{std::string(lint::kIstioCluster), issue.name}}};
  form.data[issue.name] = kubeconfig_with_data(issue);
  return form;
}

Result<SecretForm> cluster_api_form(const Issue& issue) {
  if (!is_label_value(issue.name)) {
    return Error::configuration(
        "the name " + in_quotes(issue.name) + " cannot be the value of a label",
        "Cluster API names the cluster in a label: at most 63 characters");
  }
  SecretForm form{.type = "cluster.x-k8s.io/secret",
                  .labels = {{"cluster.x-k8s.io/cluster-name", issue.name}}};
  form.data["value"] = kubeconfig_with_data(issue);
  return form;
}

}  // namespace

Contents folder_contents(const Issue& issue) {
  Contents contents = plain_contents(issue);
  contents["kubeconfig"] = kubeconfig_with_files(issue);
  return contents;
}

std::string_view name_of(SecretFormat format) { return kFormats[static_cast<std::size_t>(format)]; }

Result<SecretFormat> parse_secret_format(std::string_view name) {
  const auto found = std::find(kFormats.begin(), kFormats.end(), name);
  if (found != kFormats.end()) return static_cast<SecretFormat>(found - kFormats.begin());
  return Error::configuration(in_quotes(name) + " is no format of a Secret",
                              "it may be " + join({kFormats.begin(), kFormats.end()}, ", "));
}

Result<SecretForm> secret_form(SecretFormat format, const Issue& issue) {
  switch (format) {
    case SecretFormat::argocd:
      return argocd_form(issue);
    case SecretFormat::istio:
      return istio_form(issue);
    case SecretFormat::cluster_api:
      return cluster_api_form(issue);
    case SecretFormat::token:
      return SecretForm{.data = plain_contents(issue), .shows_end = issue.expires.has_value()};
    case SecretFormat::kubeconfig:
      break;
  }
  SecretForm form;
  form.data["value"] = kubeconfig_with_data(issue);
  return form;
}

std::string digest_of(const Access& access) {
  Value document((Object()));
  document.add("version", Value("1"));
  document.add("provider", Value(access.provider));
  document.add("exec", to_json(access.exec));
  document.add("cluster", to_json(access.cluster));
  return "sha256:" + to_hex(sha256(json::to_text(document)));
}

}  // namespace execcred::sync

// SPDX-License-Identifier: Apache-2.0
#include "cluster_secrets.hpp"

#include "argocd.hpp"
#include "command.hpp"
#include "lint/remote_secrets.hpp"
#include "list_text.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/kube/kubeconfig_writer.hpp>
#include <execcred/kube/profile_hint.hpp>
#include <execcred/kube/stored_secret.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <utility>

namespace execcred::cli {
namespace {

using json::Object;
using json::Value;

using lint::kIstioCluster;
using lint::kIstioLabel;

constexpr std::string_view kIstioPrefix = "istio-remote-secret-";
constexpr std::string_view kArgocdPrefix = "cluster-";

constexpr std::string_view kIstioNeeds =
    "istiod takes a user with exec only with "
    "PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS=exec";
constexpr std::string_view kArgocdNeeds =
    "provideClusterInfo and config need Argo CD 3.5; older versions ignore them";

Error unusable(const Access& access, Error error) {
  error.context.push_back("writing a Secret for ClusterProfile " + access.cluster_profile);
  return error;
}

Error unusable(const Access& access, std::string message, std::string hint) {
  return unusable(access, Error::configuration(std::move(message), std::move(hint)));
}

Result<std::string> cluster_name(const ClusterProfile& profile, const Access& access,
                                 std::string_view prefix) {
  std::string name = profile.name;
  const Value* configured = access.cluster.config.find("clusterName");
  if (configured != nullptr && !configured->is_null()) {
    if (configured->string() == nullptr) {
      return unusable(access, "spec.cluster.config.clusterName is no string", kMendProfile);
    }
    name = *configured->string();
  }
  if (is_secret_key(name) && is_dns1123_subdomain(std::string(prefix) + name)) return name;
  return unusable(access, "the cluster's name " + in_quotes(name) + " cannot be part of a Secret's",
                  "it may have lower-case letters, digits, '-' and '.'");
}

std::string runs_it(std::string_view who, const std::string& commands) {
  return std::string(who) + " runs " + commands + ", which its image or a volume must hold";
}

// Argo CD's execProviderConfig. Its env is an object, so the last of several variables with the
// same name is used, as by the program.
Value exec_provider(const ExecConfig& exec, const std::vector<std::string>& arguments,
                    const Value& config) {
  Value object((Object()));
  object.add("command", Value(exec.command));
  json::Array args;
  for (const std::string& argument : arguments) args.emplace_back(argument);
  if (!args.empty()) object.add("args", Value(std::move(args)));
  std::map<std::string, std::string> variables;
  for (const EnvironmentVariable& variable : exec.env) variables[variable.name] = variable.value;
  if (!variables.empty()) object.add("env", object_of(variables));
  object.add("apiVersion", Value(full_name(exec.api_version)));
  if (!exec.install_hint.empty()) object.add("installHint", Value(exec.install_hint));
  if (exec.provide_cluster_info) object.add("provideClusterInfo", Value(true));
  if (!config.is_null()) object.add("config", config);
  return object;
}

// Argo CD's config. Fields that this format does not have are left out, and reported in `losses`.
Value config_of(const Access& access, const std::string& profile,
                std::vector<std::string>& losses) {
  const Cluster& cluster = access.cluster;
  const std::string& mode = access.exec.interactive_mode;
  if (!mode.empty() && mode != "Never") {
    losses.push_back("interactiveMode: " + mode + " is left out: Argo CD knows only Never");
  }
  Value config((Object()));
  const std::vector<std::string> arguments =
      fill_argocd_placeholders(access.exec.args, profile, cluster.server);
  config.add("execProviderConfig", exec_provider(access.exec, arguments, cluster.config));
  return argocd_config(cluster, std::move(config));
}

std::string to_text(const SecretManifest& manifest) {
  Value metadata((Object()));
  metadata.add("name", Value(manifest.name));
  metadata.add("namespace", Value(manifest.name_space));
  if (!manifest.labels.empty()) metadata.add("labels", object_of(manifest.labels));
  if (!manifest.annotations.empty()) metadata.add("annotations", object_of(manifest.annotations));
  Value head((Object()));
  head.add("apiVersion", Value("v1"));
  head.add("kind", Value("Secret"));
  head.add("metadata", std::move(metadata));
  head.add("stringData", object_of(manifest.data));
  std::string text;
  for (const std::string& comment : manifest.comments) text += "# " + printable(comment) + "\n";
  return text + yaml::to_text(head);
}

std::string note(std::string_view text) {
  return std::string(kProgram) + ": note: " + printable(text) + "\n";
}

}  // namespace

Result<SecretManifest> ClusterSecrets::istio(const std::string& cluster, const Access& access) {
  KubeconfigWriter writer;
  TRY(writer.add(access));
  return SecretManifest{.comments = {std::string(kIstioNeeds) + ".",
                                     runs_it("It", in_quotes(access.exec.command)) + "."},
                        .name_space = "istio-system",
                        .name = std::string(kIstioPrefix) + cluster,
                        .labels = {{std::string(kIstioLabel), "true"}},
                        .annotations = {{std::string(kIstioCluster), cluster}},
                        .data = {{cluster, writer.take_text()}}};
}

Result<SecretManifest> ClusterSecrets::argocd(const std::string& cluster, const Access& access,
                                              const std::string& profile) {
  const Status served = check_argocd_server(access.cluster.server, "runs no plugin for it");
  if (!served) return unusable(access, served.error());
  std::vector<std::string> losses;
  const Value config = config_of(access, profile, losses);
  SecretManifest manifest{.comments = {runs_it("Argo CD", in_quotes(access.exec.command)) + "."},
                          .name_space = "argocd",
                          .name = std::string(kArgocdPrefix) + cluster,
                          .labels = {{std::string(kArgocdLabel), std::string(kArgocdLabelValue)}},
                          .data = {{"name", cluster},
                                   {"server", access.cluster.server},
                                   {"config", json::to_indented_text(config)}}};
  if (access.exec.provide_cluster_info || !access.cluster.config.is_null()) {
    losses.emplace_back(kArgocdNeeds);
  }
  for (const std::string& loss : losses) {
    manifest.comments.push_back(loss + ".");
    losses_.insert(loss);
  }
  return manifest;
}

Status ClusterSecrets::add(const ClusterProfile& profile, const Access& access) {
  const bool is_istio = form_ == Form::istio;
  const std::string cluster =
      TRY(cluster_name(profile, access, is_istio ? kIstioPrefix : kArgocdPrefix));
  if (clusters_.contains(cluster)) {
    return unusable(access,
                    "a ClusterProfile before it is for cluster " + in_quotes(cluster) + " too",
                    "choose with --name: of two Secrets, one would replace the other");
  }
  const SecretManifest manifest =
      TRY(is_istio ? istio(cluster, access) : argocd(cluster, access, profile.name));
  clusters_.insert(cluster);
  commands_.insert(in_quotes(access.exec.command));
  if (!text_.empty()) text_ += "---\n";
  text_ += to_text(manifest);
  return {};
}

std::string ClusterSecrets::notes() const {
  const std::string commands = join({commands_.begin(), commands_.end()}, ", ");
  std::string text = form_ == Form::istio ? note(kIstioNeeds) : "";
  text += note(runs_it(form_ == Form::istio ? "istiod" : "Argo CD", commands));
  for (const std::string& loss : losses_) text += note(loss);
  return text;
}

}  // namespace execcred::cli

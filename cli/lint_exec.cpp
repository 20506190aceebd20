// SPDX-License-Identifier: Apache-2.0
#include "lint_exec.hpp"

#include "argocd_template.hpp"
#include "lint_clouds.hpp"
#include "lint_oidc_federation.hpp"
#include "lint_options.hpp"
#include "lint_programs.hpp"
#include "lint_secrets.hpp"
#include "lint_static_secret.hpp"

#include <execcred/base/text.hpp>
#include <execcred/exec/template.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace execcred::lint {
namespace {

using json::ObjectReader;
using Texts = std::vector<std::string>;

constexpr std::string_view kServerHost = "{server.host}";

bool any_has(const Texts& values, std::string_view part) {
  return std::any_of(values.begin(), values.end(), [part](const std::string& value) {
    return value.find(part) != std::string::npos;
  });
}

void check_relative_command(const Scope& scope, const std::string& command, const std::string& path,
                            Consumer consumer) {
  const bool is_name = command.find('/') == std::string::npos;
  const std::string message = "is " + in_quotes(command) + ", no absolute path";
  if (consumer == Consumer::kueue) {
    if (is_name) {
      check_program(scope, "/plugins/" + command, path);
    } else {
      scope.error(path, message, "name a file in /plugins, or give an absolute path");
    }
  } else if (consumer == Consumer::kubeconfig && is_name) {
    scope.warning(path, message + ": clients look it up in PATH, which others may set",
                  "give the program's absolute path");
  } else if (consumer == Consumer::kubeconfig) {
    const std::string name = name_in_path(command);
    scope.error(path,
                message + ": clients differ in the folder that it starts from" +
                    (name.empty() ? "" : ", and some look " + in_quotes(name) + " up in PATH"),
                "give the program's absolute path");
  }
}

// Everything that reads spec.cluster, which the client gives only where it is asked to.
Texts needs_of_cluster(const ExecConfig& exec, const PluginOptions& options) {
  Texts needs;
  const std::string_view program = program_name(exec.command);
  if (program == kStaticSecret) needs = needs_of_static_secret(exec, options);
  if (program == kOidcFederation) needs = needs_of_oidc_federation(exec, options);
  for (const std::string_view name : {"allow-server", "server-ca-file"}) {
    if (is_given(exec, options, name)) needs.push_back("--" + std::string(name));
  }
  const bool has_cluster = is_given(exec, options, "cluster");
  for (const Given& given : given_in(exec, options, {})) {
    const bool is_template =
        given.value.find(kServerHost) != std::string::npos ||
        (!has_cluster && given.value.find("{clusterName}") != std::string::npos);
    if (is_template) needs.push_back("--" + given.name);
  }
  return needs;
}

void check_cluster_info(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                        const std::string& path) {
  if (exec.provide_cluster_info) return;
  const Texts needs = needs_of_cluster(exec, options);
  if (needs.empty()) return;
  scope.error(join_path(path, "provideClusterInfo"),
              "is not true, but " + join(needs, " and ") +
                  (needs.size() == 1 ? " needs" : " need") + " to know the cluster",
              "set provideClusterInfo: true");
}

// Who may write ClusterProfiles chooses the server: a bearer token that is good elsewhere too
// would be theirs. {server.host} in a file's name binds the token to the server.
std::string_view reach_of_tokens(const ExecConfig& exec, const PluginOptions& options) {
  constexpr std::array<std::string_view, 3> kManyServers = {"execcred-google", "execcred-azure",
                                                            "execcred-aws"};
  const std::string_view program = program_name(exec.command);
  if (program == kTokenFile) {
    const Texts files = values_of(exec, options, "token-file");
    if (files.empty() || any_has(files, kServerHost)) return {};
    return any_has(files, "{") ? "the ClusterProfile also chooses whose token that is"
                               : "that is one token for all of them";
  }
  if (program == kStaticSecret) return reach_of_static_secret(exec, options);
  if (program == kOidcFederation) return reach_of_oidc_federation(exec, options);
  const Texts types = values_of(exec, options, "type");
  const bool is_jwt_svid =
      program == "execcred-spiffe" && std::find(types.begin(), types.end(), "jwt") != types.end();
  const bool is_wide = is_jwt_svid || std::find(kManyServers.begin(), kManyServers.end(),
                                                program) != kManyServers.end();
  return is_wide ? "such a token is good at more than one server" : std::string_view();
}

void check_servers(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                   const std::string& path) {
  if (is_given(exec, options, "allow-server")) return;
  if (is_given(exec, options, "allow-proxy")) {
    scope.warning(join_path(path, "args"),
                  "has --allow-proxy, which does nothing without --allow-server",
                  "add --allow-server=https://HOST[:PORT], or remove it");
  }
  const std::string_view reach = reach_of_tokens(exec, options);
  if (reach.empty()) return;
  scope.warning(join_path(path, "args"),
                "lacks --allow-server, so any https server that a ClusterProfile names is given a "
                "token; " +
                    std::string(reach),
                "add --allow-server=https://HOST[:PORT] for the servers that are meant, and "
                "provideClusterInfo: true");
}

struct Weakening {
  std::string_view option;
  std::string_view value;  // a part of it; empty for any
  std::string_view effect;
};
constexpr std::array<Weakening, 7> kWeakenings = {{
    {"allow-audience", "any", "lets a ClusterProfile choose for whom a token is made"},
    {"allow-server", "/0]", "allows every address"},
    {"allow-namespace", "any", "lets a ClusterProfile choose a Secret of any namespace"},
    {"allow-hub-token", "", "lets the hub's own tokens be given away"},
    {"allow-insecure", "", "gives tokens to servers whose certificate is not checked"},
    {"allow-profile-ca", "", "lets a ClusterProfile choose the CA where none is stored"},
    {"allow-empty-cn", "", "gives certificates that name nobody"},
}};

void check_weakenings(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                      const std::string& path) {
  for (const Given& given : given_in(exec, options, path)) {
    for (const Weakening& weakening : kWeakenings) {
      const bool applies =
          given.name == weakening.option &&
          (weakening.value == "any" ? given.value == weakening.value
                                    : given.value.find(weakening.value) != std::string::npos);
      if (!applies) continue;
      scope.warning(given.path, "has --" + given.name + ", which " + std::string(weakening.effect),
                    "leave it out, or name what is meant");
    }
  }
}

void check_boundary(const Scope& scope, const ExecConfig& exec, const std::string& path) {
  for (std::size_t i = 0; i + 1 < exec.args.size(); ++i) {
    if (exec.args[i] != "--from-profile" && exec.args[i] != "-from-profile") continue;
    scope.warning(join_path(path, "args") + step(i),
                  "is --from-profile, but not the last: what follows counts as a ClusterProfile's",
                  "put it last");
    return;
  }
}

constexpr std::array<std::string_view, 5> kTemplates = {"token-file", "secret-dir", "secret-name",
                                                        "namespace", "key"};
constexpr std::array<std::string_view, 17> kFiles = {
    "token-file",          "server-ca-file",    "kubeconfig",         "secret-dir",
    "kubeconfig-file",     "ca-file",           "client-certificate", "client-key",
    "subject-token-file",  "subject-ca-file",   "client-secret-file", "private-key-file",
    "actor-token-file",    "concierge-ca-file", "cache-dir",          "credentials-file",
    "federated-token-file"};

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The placeholders of a name, tried with a cluster that has all there is.
void check_templates(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                     const std::string& path) {
  ExecInfo info;
  info.cluster = Cluster{.server = "https://server.example.com"};
  for (const Given& given : given_in(exec, options, path)) {
    // Of one that is left the plugin's own refusal is told.
    if (is_among(kTemplates, given.name) && !has_unexpanded_template(given.value)) {
      const Result<std::string> expanded = expand_template(given.value, "cluster", info);
      if (!expanded) {
        scope.add(Severity::error, given.path, expanded.error().message, expanded.error().hint);
      }
    }
    const bool is_file = is_among(kFiles, given.name);
    if (is_file && !given.value.empty() && !given.value.starts_with('/')) {
      scope.warning(given.path,
                    "names a file by a relative path, from the folder that the caller is in",
                    "give an absolute path");
    }
  }
}

void check_plugin_of_ours(const Scope& scope, const ExecConfig& exec, const std::string& path,
                          Consumer consumer) {
  const PluginOptions options(program_name(exec.command));
  check_settings(scope, exec, options, path);
  check_boundary(scope, exec, path);
  check_templates(scope, exec, options, path);
  check_weakenings(scope, exec, options, path);
  const std::string_view program = program_name(exec.command);
  if (program == kStaticSecret) check_static_secret(scope, exec, options, path);
  if (program == kOidcFederation) check_oidc_federation(scope, exec, options, path);
  if (program == cli::kGoogle) check_google(scope, exec, options, path);
  check_cluster_info(scope, exec, options, path);
  if (consumer != Consumer::kubeconfig) check_servers(scope, exec, options, path);
}

// What Argo CD would run, for a cluster that has all there is. Only a mapping file may be Argo
// CD's.
ExecConfig as_argocd_runs(const Scope& scope, ExecConfig exec, const std::string& path) {
  for (std::size_t i = 0; i < exec.args.size(); ++i) {
    if (!cli::has_argocd_placeholder(exec.args[i])) continue;
    const std::string at = join_path(path, "args") + step(i);
    scope.info(at, "has a placeholder, which Argo CD fills in and no other consumer does",
               "for other consumers write {clusterName} or {server.host}, where the option takes "
               "them");
    const bool allows_all = exec.args[i].find(cli::kArgocdServer) != std::string::npos &&
                            (exec.args[i].starts_with("--allow-server") ||
                             (i > 0 && exec.args[i - 1] == "--allow-server"));
    if (allows_all) {
      scope.warning(at, "allows the server that the ClusterProfile names, and so every server",
                    "name the servers that are meant: --allow-server=https://HOST[:PORT]");
    }
  }
  exec.args =
      cli::fill_argocd_placeholders(std::move(exec.args), "cluster", "https://server.example.com");
  return exec;
}

void check_variables(const Scope& scope, const ExecConfig& exec, const std::string& path) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < exec.env.size(); ++i) {
    const std::string& name = exec.env[i].name;
    if (name.empty() || names.insert(name).second) continue;
    scope.warning(join_path(path, "env") + step(i) + ".name",
                  "is " + in_quotes(name) + ", like that of a variable before it: the last counts",
                  "keep one");
  }
}

}  // namespace

void check_exec(const Scope& scope, const ExecConfig& exec, const std::string& path,
                Consumer consumer) {
  const std::string command_path = join_path(path, "command");
  if (exec.command.starts_with('/')) {
    check_program(scope, exec.command, command_path);
  } else if (!exec.command.empty()) {
    check_relative_command(scope, exec.command, command_path, consumer);
  }
  if (exec.interactive_mode == "Always" && consumer != Consumer::kubeconfig) {
    scope.warning(join_path(path, "interactiveMode"), "is Always, but a controller has no terminal",
                  "set it to Never");
  }
  check_variables(scope, exec, path);
  check_no_secrets(scope, exec, path);
  if (!is_plugin_of_ours(exec.command)) return;
  if (consumer == Consumer::mapping) {
    check_plugin_of_ours(scope, as_argocd_runs(scope, exec, path), path, consumer);
  } else {
    check_plugin_of_ours(scope, exec, path, consumer);
  }
}

ExecConfig inspect_exec(const Scope& scope, const ObjectReader& exec, Consumer consumer) {
  ExecInspection inspection = inspect_exec_config(exec, CommandRule::any);
  for (const Error& problem : inspection.problems) {
    scope.add(Severity::error, problem, exec.path(),
              "see the Kubernetes documentation of exec plugins");
  }
  check_exec(scope, inspection.exec, exec.path(), consumer);
  return std::move(inspection.exec);
}

void check_fields(const Scope& scope, const ObjectReader& object,
                  const std::vector<std::string_view>& fields, bool is_strict) {
  const Severity severity = is_strict ? Severity::error : Severity::warning;
  for (const json::Member& member : *object.value().object()) {
    if (std::find(fields.begin(), fields.end(), member.name) != fields.end()) continue;
    const auto same = std::find_if(fields.begin(), fields.end(), [&member](std::string_view field) {
      return json::fold_key(field) == json::fold_key(member.name);
    });
    const std::string path = join_path(object.path(), step(member.name));
    if (same != fields.end()) {
      scope.add(severity, path, "is not spelled as the field " + in_quotes(*same),
                "write " + std::string(*same));
    } else {
      scope.add(severity, path,
                is_strict ? "is no field, so the document is refused"
                          : "is no field, so it has no effect",
                "remove it, or see whether one of these is meant: " +
                    join(Texts(fields.begin(), fields.end()), ", "));
    }
  }
}

void check_exec_fields(const Scope& scope, const ObjectReader& exec, bool is_strict) {
  check_fields(scope, exec, exec_config_fields(), is_strict);
  const json::Value* env = exec.find("env");
  if (env == nullptr || env->array() == nullptr) return;
  for (std::size_t i = 0; i < env->array()->size(); ++i) {
    const Result<ObjectReader> entry =
        ObjectReader::open((*env->array())[i], exec.path_of("env") + step(i));
    if (entry) check_fields(scope, *entry, {"name", "value"}, is_strict);
  }
}

}  // namespace execcred::lint

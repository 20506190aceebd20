// SPDX-License-Identifier: Apache-2.0
#include "exec.hpp"

#include "argocd.hpp"
#include "catalogue.hpp"
#include "options.hpp"
#include "secrets.hpp"

#include <execcred/base/error.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/template.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/command_hint.hpp>
#include <execcred/kube/kubeconfig_rules.hpp>
#include <execcred/os/program_file.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

namespace execcred::lint {
namespace {

namespace fs = std::filesystem;

using json::ObjectReader;
using Texts = std::vector<std::string>;

// Where consumers' manifests mount the plugins.
constexpr std::string_view kPluginDirectory = "/plugins";
constexpr std::string_view kCaOption = "server-ca-file";

fs::path on_this_machine(const Scope& scope, const fs::path& command) {
  const fs::path& directory = scope.limits().plugin_directory;
  if (directory.empty() || command.parent_path() != kPluginDirectory) return command;
  return directory / command.filename();
}

void report_missing(const Scope& scope, const fs::path& file, const std::string& command,
                    std::string_view path) {
  const std::string subject =
      "is " + in_quotes(command) +
      (file == command ? std::string(", which") : ", but " + in_quotes(file.native()));
  std::error_code ignored;
  // If the machine has the folder, the program should be in it.
  if (fs::exists(file.parent_path(), ignored)) {
    scope.error(path, subject + " does not exist",
                missing_command_hint(command, "install the program there, or name another"));
    return;
  }
  scope.warning(path, subject + " is not on this machine",
                missing_command_hint(command,
                                     "run lint where the plugins are, name their directory with "
                                     "--plugin-dir=DIR, or skip these checks with --no-files"));
}

// Checks the file that a command names: whether it exists, can be run, and can be changed only by
// its owner. `command` is an absolute path. `path` is the path of its field.
void check_program(const Scope& scope, const std::string& command, std::string_view path) {
  if (!scope.limits().looks_at_programs) return;
  const fs::path file = on_this_machine(scope, command);
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0) {
    const int problem = errno;
    if (problem == ENOENT || problem == ENOTDIR) {
      report_missing(scope, file, command, path);
    } else {
      scope.warning(path,
                    "is " + in_quotes(file.native()) +
                        ", which cannot be examined: " + system_message(problem),
                    "run lint as the user of the controller");
    }
    return;
  }
  const std::string subject = "is " + in_quotes(file.native()) + ", ";
  if (!S_ISREG(status.st_mode)) {
    scope.error(path, subject + "which is no regular file", "name the program itself");
    return;
  }
  if ((status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0) {
    scope.error(path, subject + "which is not executable", "chmod 0555 it");
  }
  const std::string weak = weak_point(file);
  if (weak.empty()) return;
  const std::string where = weak == file.native() ? "which" : "where " + in_quotes(weak);
  scope.error(path, subject + where + " may be written by others than its owner",
              "remove the write permission of group and others");
}

void check_relative_command(const Scope& scope, const std::string& command, const std::string& path,
                            Consumer consumer) {
  const bool is_name = command.find('/') == std::string::npos;
  const std::string message = "is " + in_quotes(command) + ", no absolute path";
  if (consumer == Consumer::kueue) {
    if (is_name) {
      check_program(scope.as(rule::kProgram), "/plugins/" + command, path);
    } else {
      scope.error(path, message, "name a file in /plugins, or give an absolute path");
    }
  } else if (consumer == Consumer::kubeconfig && is_name) {
    scope.warning(path, message + ": clients look it up in PATH, which others may set",
                  missing_command_hint(command, "give the program's absolute path"));
  } else if (consumer == Consumer::kubeconfig) {
    const std::string name = name_in_path(command);
    scope.error(path,
                message + ": clients resolve it from different directories" +
                    (name.empty() ? "" : ", and some look " + in_quotes(name) + " up in PATH"),
                missing_command_hint(command, "give the program's absolute path"));
  }
}

// All options that need spec.cluster, which the client sends only on request.
Texts needs_of_cluster(const ExecConfig& exec, const DeclaredOptions& options,
                       const Binding& binding) {
  Texts needs = binding.needs_cluster;
  bool has_cluster_name = false;
  for (const Option& option : options.set().all()) {
    if (!option.needs_cluster && !option.names_cluster) continue;
    const bool is_set = is_given(exec, options, option.name);
    if (option.needs_cluster && is_set) needs.push_back(option.flag());
    if (option.names_cluster && is_set) has_cluster_name = true;
  }
  for (const Given& given : given_in(exec, options, {})) {
    const Option* const option = options.set().find(given.name);
    if (option != nullptr && needs_cluster_info(*option, given.value, has_cluster_name)) {
      needs.push_back(option->flag());
    }
  }
  return needs;
}

void check_cluster_info(const Scope& scope, const ExecConfig& exec, const DeclaredOptions& options,
                        const Binding& binding, const std::string& path) {
  if (exec.provide_cluster_info) return;
  const Texts needs = needs_of_cluster(exec, options, binding);
  if (needs.empty()) return;
  scope.error(join_path(path, "provideClusterInfo"),
              "is not true, but " + join(needs, " and ") +
                  (needs.size() == 1 ? " needs" : " need") + " to know the cluster",
              "set provideClusterInfo: true");
}

// The writer of a ClusterProfile chooses the server, which could use a token at another server.
void check_servers(const Scope& scope, const ExecConfig& exec, const DeclaredOptions& options,
                   const Binding& binding, const std::string& path) {
  const std::vector<Option>& all = options.set().all();
  const auto limit = std::find_if(all.begin(), all.end(), [](const Option& option) {
    return option.servers == Option::Servers::limited;
  });
  if (limit == all.end() || is_given(exec, options, limit->name)) return;
  if (options.provider() == nullptr) return;
  using Kind = Binding::Kind;
  const bool checks_connection =
      binding.kind == Kind::named_server || binding.kind == Kind::stored_server;
  for (const Option& option : all) {
    if (checks_connection || option.companion != limit->name) continue;
    if (!is_given(exec, options, option.name)) continue;
    scope.warning(join_path(path, "args"),
                  "has " + option.flag() + ", which does nothing without " + limit->flag(),
                  "add " + limit->flag() + "=https://HOST[:PORT], or remove it");
  }
  const std::string allow = limit->flag() + "=https://HOST[:PORT] for the intended servers";
  if (binding.kind == Kind::any_server && !binding.text.empty()) {
    scope.warning(join_path(path, "args"),
                  "lacks " + limit->flag() +
                      ", so any https server that a ClusterProfile names gets a token; " +
                      binding.text,
                  "add " + allow + ", and provideClusterInfo: true");
  }
  if (binding.kind == Kind::named_server && !is_given(exec, options, kCaOption)) {
    scope.warning(join_path(path, "args"),
                  "lacks " + limit->flag() + " and --" + std::string(kCaOption) +
                      ", so a ClusterProfile chooses the CA by which the server is verified; " +
                      binding.text + " ties the credential to a name alone",
                  "add --" + std::string(kCaOption) + "=PATH with the clusters' CAs, or " + allow);
  }
}

void check_weakenings(const Scope& scope, const ExecConfig& exec, const DeclaredOptions& options,
                      const std::string& path) {
  for (const Given& given : given_in(exec, options, path)) {
    const Option* const option = options.set().find(given.name);
    if (option == nullptr || option->weakness.empty()) continue;
    if (option->is_weak != nullptr && !option->is_weak(given.value)) continue;
    const std::string hint(option->weakness_hint.empty()
                               ? "leave it out, or write the intended value"
                               : option->weakness_hint);
    scope.add(option->is_minor_weakness ? Severity::info : Severity::warning, given.path,
              "has --" + given.name + ", which " + std::string(option->weakness), hint);
  }
}

void check_boundary(const Scope& scope, const ExecConfig& exec, const std::string& path) {
  const std::string one_dash = "-" + std::string(kBoundaryFlag);
  for (std::size_t i = 0; i + 1 < exec.args.size(); ++i) {
    if (exec.args[i] != one_dash && exec.args[i] != "-" + one_dash) continue;
    scope.warning(join_path(path, "args") + step(i),
                  "is --" + std::string(kBoundaryFlag) +
                      ", but not the last: later arguments count as a ClusterProfile's",
                  "put it last");
    return;
  }
}

// Expands the placeholders of a template for an example cluster.
void check_template(const Scope& scope, const Option& option, const Given& given) {
  // If an unexpanded placeholder is left, the plugin's own refusal is reported instead.
  const bool is_text = option.is_template && !option.is_command;  // a command checks its own
  if (!is_text || has_unexpanded_template(given.value)) return;
  ExecInfo info;
  info.cluster = Cluster{.server = "https://server"};
  const auto check = [&]() -> Status {
    const std::string expanded = TRY(expand_template(given.value, "cluster", info));
    const bool has_form = option.form != nullptr && expanded != given.value;
    return has_form ? option.form->check(expanded) : Status();
  };
  const Status checked = check();
  if (checked) return;
  scope.add(Severity::error, given.path, checked.error().message, checked.error().hint);
}

// Checks templates, and that paths are absolute.
void check_templates(const Scope& scope, const ExecConfig& exec, const DeclaredOptions& options,
                     const std::string& path) {
  for (const Given& given : given_in(exec, options, path)) {
    const Option* const option = options.set().find(given.name);
    if (option == nullptr) continue;
    check_template(scope, *option, given);
    if (option->is_path() && !given.value.empty() && !given.value.starts_with('/')) {
      scope.warning(
          given.path,
          "names a file by a relative path, which depends on the caller's working directory",
          "give an absolute path");
    }
  }
}

// Checks the program of a command that the plugin runs, which has the plugin's rights.
void check_command(const Scope& scope, const std::string& text, const std::string& place) {
  const Texts parts = texts_of_array(text);
  if (parts.empty() || !parts.front().starts_with('/')) return;
  check_program(scope.as(rule::kProgram), parts.front(), place);
}

void check_commands(const Scope& scope, const ExecConfig& exec, const DeclaredOptions& options,
                    const std::string& path) {
  for (const Given& given : given_in(exec, options, path)) {
    const Option* const option = options.set().find(given.name);
    if (option != nullptr && option->is_command) check_command(scope, given.value, given.path);
  }
}

Severity severity_of(const execcred::Finding& finding) {
  switch (finding.severity) {
    case execcred::Finding::Severity::refusal:
    case execcred::Finding::Severity::error:
      return Severity::error;
    case execcred::Finding::Severity::warning:
      return Severity::warning;
    case execcred::Finding::Severity::info:
      break;
  }
  return Severity::info;
}

// check_settings() reports what the plugin refuses.
void check_by_plugin(const Scope& scope, const ExecConfig& exec, const ExecSettings& given,
                     const std::string& path) {
  const Provider& provider = *given.options.provider();
  for (const execcred::Finding& finding : provider.check(given.settings, given.environment)) {
    if (finding.severity == execcred::Finding::Severity::refusal) continue;
    std::string place = join_path(path, "args");
    for (std::size_t i = 0; i < exec.env.size() && !finding.variable.empty(); ++i) {
      if (exec.env[i].name == finding.variable) place = join_path(path, "env") + step(i) + ".value";
    }
    scope.add(severity_of(finding), place, finding.error.message, finding.error.hint);
  }
}

void check_plugin_of_ours(const Scope& scope, const ExecConfig& exec,
                          const DeclaredOptions& options, const std::string& path,
                          Consumer consumer) {
  const ExecSettings given(exec);
  const bool is_known = given.options.is_complete();
  const Binding binding = is_known ? given.options.provider()->binding(given.settings) : Binding();
  check_settings(scope.as(rule::kPluginOption), exec, options, given, path);
  check_boundary(scope.as(rule::kBoundary), exec, path);
  check_templates(scope.as(rule::kTemplate), exec, options, path);
  check_weakenings(scope.as(rule::kWeakenedCheck), exec, options, path);
  check_commands(scope, exec, options, path);
  if (is_known) check_by_plugin(scope.as(rule::kPluginAdvice), exec, given, path);
  check_cluster_info(scope.as(rule::kClusterInfo), exec, options, binding, path);
  if (consumer != Consumer::kubeconfig)
    check_servers(scope.as(rule::kAllowServer), exec, options, binding, path);
}

// The program as Argo CD would run it, with the placeholders replaced for an example cluster.
// Reports the placeholders. Only a mapping file may be Argo CD's.
ExecConfig as_argocd_runs(const Scope& scope, ExecConfig exec, const DeclaredOptions& options,
                          const std::string& path) {
  for (std::size_t i = 0; i < exec.args.size(); ++i) {
    if (!cli::has_argocd_placeholder(exec.args[i])) continue;
    const std::string at = join_path(path, "args") + step(i);
    scope.as(rule::kTemplate)
        .info(at, "has a placeholder, which Argo CD fills in and no other consumer does",
              "for other consumers write {clusterName} or {server.host}, where the option accepts "
              "them");
  }
  for (const Argument& argument : split_arguments(exec.args, &options.set())) {
    const Option* const option = options.set().find(argument.name);
    if (option == nullptr || option->servers == Option::Servers::none) continue;
    if (argument.value.find(cli::kArgocdServer) == std::string::npos) continue;
    scope.as(rule::kAllowServer)
        .warning(join_path(path, "args") + step(argument.index + argument.count - 1),
                 "allows the server that the ClusterProfile names, and so every server",
                 "name the intended servers: " + option->flag() + "=https://HOST[:PORT]");
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

void check_provider_name(const Scope& scope, const std::string& name, const std::string& path) {
  // A name that other consumers map to a plugin says nothing of who reads this mapping.
  const cli::KnownProvider* const known = cli::catalogue().find(name);
  const bool is_mapped_elsewhere = known != nullptr && !known->plugin.empty();
  for (const cli::KnownConsumer& consumer : cli::catalogue().consumers) {
    const bool is_reader = scope.limits().consumer == consumer.name;
    if (!is_reader && is_mapped_elsewhere) continue;
    if (!cli::is_one_of(name, consumer.built_ins)) continue;
    scope.add(is_reader ? Severity::warning : Severity::info, path,
              "is " + in_quotes(name) + ", which " + consumer.name +
                  " has built in: it never runs this entry",
              "for " + consumer.name + ", remove it");
  }
  const std::string near = cli::misspelled_provider(name);
  if (near.empty()) return;
  scope.warning(path, "is " + in_quotes(name) + ", and a name in use is " + in_quotes(near),
                "compare it with the names in status.accessProviders of the ClusterProfiles");
}

void check_exec(const Scope& scope, const ExecConfig& exec, const std::string& path,
                Consumer consumer) {
  const std::string command_path = join_path(path, "command");
  if (exec.command.starts_with('/')) {
    check_program(scope.as(rule::kProgram), exec.command, command_path);
  } else if (!exec.command.empty()) {
    check_relative_command(scope.as(rule::kProgram), exec.command, command_path, consumer);
  }
  if (exec.interactive_mode == "Always" && consumer != Consumer::kubeconfig) {
    scope.warning(join_path(path, "interactiveMode"), "is Always, but a controller has no terminal",
                  "set it to Never");
  }
  check_variables(scope, exec, path);
  check_no_secrets(scope.as(rule::kSecret), exec, path);
  if (!is_plugin_of_ours(exec.command)) return;
  const DeclaredOptions options(program_name(exec.command));
  const ExecConfig run =
      consumer == Consumer::mapping ? as_argocd_runs(scope, exec, options, path) : exec;
  check_plugin_of_ours(scope, run, options, path, consumer);
}

ExecConfig inspect_exec(const Scope& outer, const ObjectReader& exec, Consumer consumer) {
  const Scope scope = outer.as(rule::kExec);
  ExecInspection inspection = inspect_exec_config(exec, CommandRule::any);
  const bool is_kubeconfig = consumer == Consumer::kubeconfig;
  for (const Error& problem :
       is_kubeconfig ? kubeconfig_exec_problems(exec) : inspection.problems) {
    scope.add(Severity::error, problem, exec.path(),
              "see the Kubernetes documentation of exec plugins");
  }
  check_exec(scope, inspection.exec, exec.path(), consumer);
  return std::move(inspection.exec);
}

namespace {

using Fields = std::vector<std::string_view>;

// Calls `receive` for each member that is not among `fields` in exactly this spelling: with its
// path, and the field that it is but for its case. That is empty if there is none.
template <class Receive>
void for_each_other_field(const ObjectReader& object, const Fields& fields, Receive receive) {
  for (const json::Member& member : *object.value().object()) {
    if (std::find(fields.begin(), fields.end(), member.name) != fields.end()) continue;
    const auto same = std::find_if(fields.begin(), fields.end(), [&member](std::string_view field) {
      return json::fold_key(field) == json::fold_key(member.name);
    });
    receive(join_path(object.path(), step(member.name)),
            same == fields.end() ? std::string_view() : *same);
  }
}

void report_spelling(const Scope& scope, Severity severity, const std::string& path,
                     std::string_view meant) {
  scope.as(rule::kUnknownField)
      .add(severity, path, "is not spelled as the field " + in_quotes(meant),
           "write " + std::string(meant));
}

}  // namespace

void check_fields(const Scope& scope, const ObjectReader& object, const Fields& fields,
                  bool is_strict) {
  const Severity severity = is_strict ? Severity::error : Severity::warning;
  for_each_other_field(object, fields, [&](const std::string& path, std::string_view meant) {
    if (!meant.empty()) return report_spelling(scope, severity, path, meant);
    scope.as(rule::kUnknownField)
        .add(
            severity, path,
            is_strict ? "is no field, so the document is refused"
                      : "is no field, so it has no effect",
            "remove it, or write one of these: " + join(Texts(fields.begin(), fields.end()), ", "));
  });
}

void check_spelling(const Scope& scope, const ObjectReader& object, const Fields& fields) {
  for_each_other_field(object, fields, [&](const std::string& path, std::string_view meant) {
    if (!meant.empty()) report_spelling(scope, Severity::error, path, meant);
  });
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

// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include "argocd.hpp"
#include "options.hpp"
#include "secrets.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/text.hpp>
#include <execcred/exec/cluster.hpp>
#include <execcred/exec/settings.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace execcred::lint {
namespace {

constexpr std::string_view kArguments = "/exec/additional-args";

struct Problem {
  std::string path = {};
  Error error = {};
};

bool may_hold_secret(const json::Member& member) {
  const auto may_be = [&member](const json::Value& value) {
    return value.string() != nullptr && may_be_secret(member.name, *value.string());
  };
  const auto* const list = member.value.array();
  return may_be(member.value) ||
         (list != nullptr && std::any_of(list->begin(), list->end(), may_be));
}

// The problems of the config; empty if the plugin accepts it as a whole. They are those of single
// fields, if there are any, or else the problem of the whole.
std::vector<Problem> problems_of_config(DeclaredOptions& options, const Settings& settings,
                                        const ProfileInput& input) {
  const json::Object* const fields = input.config.object();
  if (fields == nullptr) return {};
  json::Value whole((json::Object()));
  std::vector<Problem> problems;
  for (const json::Member& member : *fields) {
    if (judged_option(options, member.name) != nullptr) continue;  // choices.cpp does it
    whole.add(member.name, member.value);
    const Status read = options.read_field(settings, member, input.server);
    if (read) continue;
    Problem problem{.path = join_path(input.config_path, step(member.name)),
                    .error = placed(read.error(), input.config_path)};
    // The message quotes the beginning of the refused value.
    if (may_hold_secret(member)) problem.error.message = "has a value that is refused";
    problems.push_back(std::move(problem));
  }
  const Status together = options.read_config(settings, whole, input.server);
  if (together) return {};
  if (!problems.empty()) return problems;
  return {{.path = input.config_path, .error = placed(together.error(), input.config_path)}};
}

bool may_hold_secret(const std::vector<std::string>& arguments) {
  const std::vector<Argument> all = split_arguments(arguments, nullptr);
  return std::any_of(all.begin(), all.end(), [](const Argument& argument) {
    return may_be_secret(argument.name, argument.value);
  });
}

std::vector<Problem> problems_of(const ProfileInput& input, PluginReading& plugin, bool appends) {
  // A problem of the mapping's entry is reported there, and makes this check impossible.
  if (!plugin.is_read) return {};
  std::vector<Problem> problems = problems_of_config(plugin.options, plugin.settings, input);
  if (!appends || input.arguments.empty()) return problems;
  const Status read = plugin.options.read_appended(plugin.settings, input.arguments, input.server);
  if (read) return problems;
  problems.push_back({.path = input.arguments_path, .error = read.error()});
  if (may_hold_secret(input.arguments)) {
    problems.back().error.message = "holds an argument that is refused";
  }
  return problems;
}

// Those of which no program is free: the ones with the last program.
std::vector<Problem> problems_of(const ProfileInput& input, const MappedPlugins& mapped,
                                 PluginReadings& readings) {
  std::vector<Problem> problems;
  for (const MappedPlugin& plugin : mapped.plugins) {
    PluginReading& reading = readings.of(plugin, input);
    if (!reading.options.is_complete()) return {};
    problems = problems_of(input, reading, plugin.appends);
    if (problems.empty()) break;
  }
  return problems;
}

void report(Run& run, const ProfileInput& input, const std::vector<Problem>& problems,
            const std::string& hint) {
  const Scope scope = Scope(run, input.file, input.group).as(rule::kProfileInput);
  for (const Problem& problem : problems) {
    std::string message = problem.error.message;
    if (message.starts_with(problem.path)) message.erase(0, problem.path.size());
    message.erase(0, message.find_first_not_of(": "));
    scope.error(problem.path, message,
                problem.error.hint.empty() ? hint : problem.error.hint + "; " + hint);
  }
}

// The arguments in a list of strings, or in {"args": [...]}. Other forms are reported elsewhere.
std::vector<std::string> arguments_of(const json::Value& value) {
  const json::Value* list = value.object() == nullptr ? &value : value.find("args");
  std::vector<std::string> arguments;
  if (list == nullptr || list->array() == nullptr) return arguments;
  for (const json::Value& item : *list->array()) {
    if (item.string() != nullptr) arguments.push_back(*item.string());
  }
  return arguments;
}

// Whether the field would set an option.
bool is_read(const DeclaredOptions& options, const json::Member& member) {
  const bool is_empty = member.value.string() != nullptr && member.value.string()->empty();
  if (member.value.is_null() || is_empty) return false;
  return std::any_of(options.set().all().begin(), options.set().all().end(),
                     [&member](const Option& option) {
                       const std::vector<std::string>& fields = option.config_fields;
                       return std::find(fields.begin(), fields.end(), member.name) != fields.end();
                     });
}

// Reports fields that the plugin never gets: it gets them only with the cluster's information.
void check_arrival(Run& run, const ProfileInput& input, const MappedPlugins& mapped,
                   PluginReadings& readings) {
  const bool arrives =
      std::any_of(mapped.plugins.begin(), mapped.plugins.end(),
                  [](const MappedPlugin& plugin) { return plugin.exec.provide_cluster_info; });
  if (arrives || input.config.object() == nullptr) return;
  const MappedPlugin& plugin = mapped.plugins.back();
  const std::string program(program_name(plugin.exec.command));
  const DeclaredOptions& options = readings.of(plugin, input).options;
  const Scope scope = Scope(run, input.file, input.group).as(rule::kClusterInfo);
  for (const json::Member& member : *input.config.object()) {
    if (!is_read(options, member)) continue;
    scope.warning(join_path(input.config_path, step(member.name)),
                  "never arrives at " + program +
                      ": the mapping's entry does not provide the cluster's information",
                  "set provideClusterInfo: true; the provider " + in_quotes(input.provider) +
                      " is in " + plugin.place);
  }
}

// Says that the ClusterProfiles of a provider are not compared with its entries.
void report_excess(Run& run, const ProfileInput& input, const MappedPlugin& excess) {
  Scope(run, excess.file, input.group)
      .as(rule::kProfileInput)
      .warning(excess.path,
               "is one of more than " + std::to_string(MappedPlugins::kMost) +
                   " different entries for the provider " + in_quotes(input.provider) +
                   ": what ClusterProfiles give to it is not checked",
               "check the ClusterProfiles with the mappings of one controller");
}

// Reports arguments that reach a ClusterProfile with other arguments or with none: upstream's
// library appends them to the list of the mapping's entry, which all clusters share.
void check_shared_arguments(Run& run) {
  using Provider = std::pair<std::string, std::string>;  // the group, and the name
  std::map<Provider, std::vector<const ProfileInput*>> given;
  for (const ProfileInput& input : run.inputs) {
    if (!input.arguments.empty()) given[{input.group, input.provider}].push_back(&input);
  }
  std::map<Provider, std::size_t> profiles;
  for (const ProfileProviders& profile : run.providers) {
    for (const std::string& name : profile.names) ++profiles[{profile.group, name}];
  }
  for (const auto& [provider, inputs] : given) {
    const MappedPlugins* const mapped = mapped_for(run, provider.first, provider.second);
    if (mapped == nullptr) continue;
    const auto appending = std::find_if(mapped->plugins.begin(), mapped->plugins.end(),
                                        [](const MappedPlugin& plugin) { return plugin.appends; });
    if (appending == mapped->plugins.end()) continue;
    const ProfileInput& first = *inputs.front();
    const bool has_others = profiles[provider] > inputs.size();
    for (const ProfileInput* const input : inputs) {
      const bool is_shared = input == &first ? has_others : input->arguments != first.arguments;
      if (!is_shared) continue;
      Scope(run, input->file, input->group)
          .as(rule::kPolicy)
          .error(input->arguments_path,
                 "reach ClusterProfiles of the provider " + in_quotes(provider.second) +
                     " with other arguments too: upstream's library appends them to the one list "
                     "that all share",
                 "set profileSourcedCLIArgsPolicy to Ignore in " + appending->place +
                     ", and move the settings to the extension client.authentication.k8s.io/exec");
    }
  }
}

}  // namespace

void note_input(const Scope& scope, const std::string& provider,
                const json::ObjectReader& cluster) {
  const json::Value* const extensions = cluster.find("extensions");
  if (extensions == nullptr || extensions->array() == nullptr) return;
  ProfileInput input{.group = scope.group(), .file = scope.file(), .provider = provider};
  if (const json::Value* const server = cluster.find("server")) {
    if (server->string() != nullptr) input.server = *server->string();
  }
  for (std::size_t i = 0; i < extensions->array()->size(); ++i) {
    const json::Value& extension = (*extensions->array())[i];
    const json::Value* const name = extension.find("name");
    const json::Value* const content = extension.find("extension");
    if (name == nullptr || name->string() == nullptr || content == nullptr) continue;
    const std::string path = scope.path_of(cluster.path_of("extensions") + step(i) + ".extension");
    if (*name->string() == kExecExtension) {
      input.config_path = path;
      input.config = *content;
    } else if (name->string()->ends_with(kArguments)) {
      input.arguments_path = path;
      input.arguments = arguments_of(*content);
    }
  }
  if (!input.config_path.empty() || !input.arguments.empty()) {
    scope.run().inputs.push_back(std::move(input));
  }
}

const MappedPlugins* mapped_for(const Run& run, const std::string& group,
                                const std::string& provider) {
  for (const std::string& where : {group, std::string()}) {
    const auto mapped = run.mapped.find({where, provider});
    if (mapped != run.mapped.end()) return &mapped->second;
  }
  return nullptr;
}

PluginReading::PluginReading(const ExecConfig& exec)
    : options(program_name(exec.command)), settings(options.set()), given(exec) {
  is_read = options.read(exec.args, environment_of(exec), settings).has_value();
}

PluginReading& PluginReadings::of(const MappedPlugin& plugin, const ProfileInput& input) {
  const std::vector<std::string>& args = plugin.exec.args;
  if (std::none_of(args.begin(), args.end(), cli::has_argocd_placeholder)) {
    return unfilled_.try_emplace(&plugin, plugin.exec).first->second;
  }
  ExecConfig exec = plugin.exec;
  exec.args = cli::fill_argocd_placeholders(std::move(exec.args), input.profile, input.server);
  return filled_.emplace(exec);
}

void check_inputs(Run& run, PluginReadings& readings) {
  check_shared_arguments(run);
  std::set<const MappedPlugins*> passed_over;
  for (const ProfileInput& input : run.inputs) {
    const MappedPlugins* const mapped = mapped_for(run, input.group, input.provider);
    if (mapped == nullptr) {
      PluginReading none((ExecConfig()));
      report(run, input, problems_of(input, none, false), "see docs/options.md");
    } else if (!mapped->excess) {
      check_arrival(run, input, *mapped, readings);
      report(
          run, input, problems_of(input, *mapped, readings),
          "the provider " + in_quotes(input.provider) + " is in " + mapped->plugins.back().place);
    } else if (passed_over.insert(mapped).second) {
      report_excess(run, input, *mapped->excess);
    }
  }
}

}  // namespace execcred::lint

// SPDX-License-Identifier: Apache-2.0
#include "choices.hpp"

#include "inputs.hpp"
#include "options.hpp"
#include "providers.hpp"

#include <execcred/base/text.hpp>
#include <list.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace execcred::lint {
namespace {

std::optional<execcred::Finding> refusal_by(const ExecSettings& given, std::string_view field,
                                            const std::string& text) {
  const Option* const option = judged_option(given.options, field);
  if (option == nullptr || !given.settings.is_used(*option)) return std::nullopt;
  return option->judge(text, given.settings);
}

// The fields that some plugin judges.
std::set<std::string> judged_fields() {
  std::set<std::string> fields;
  for (const PluginDefinition& plugin : all_plugins()) {
    const DeclaredOptions declared(plugin.info.name);
    for (const Option& option : declared.set().all()) {
      if (option.judge != nullptr) fields.insert(option.config_fields.front());
    }
  }
  return fields;
}

void check_choice(Run& run, PluginReadings& readings, const ProfileInput& input,
                  std::string_view field) {
  const json::Value* const value = input.config.find(field);
  if (value == nullptr || value->string() == nullptr || value->string()->empty()) return;
  const std::string& text = *value->string();
  const MappedPlugins* const mapped = mapped_for(run, input.group, input.provider);
  if (mapped == nullptr || mapped->excess) return;
  std::optional<execcred::Finding> refusal;
  for (const MappedPlugin& plugin : mapped->plugins) {
    refusal = refusal_by(readings.of(plugin, input).given, field, text);
    if (!refusal) break;
  }
  if (!refusal) return;
  Scope(run, input.file, input.group)
      .as(rule::kProfileInput)
      .add(refusal->severity == execcred::Finding::Severity::error ? Severity::error
                                                                   : Severity::warning,
           join_path(input.config_path, field),
           "is " + in_quotes(text) + ", which " + refusal->error.message,
           "the provider " + in_quotes(input.provider) + " is in " + mapped->plugins.back().place +
               ": " + refusal->error.hint);
}

}  // namespace

void note_plugin(const Scope& scope, const std::string& provider, const std::string& path,
                 const ExecConfig& exec, bool appends) {
  MappedPlugins& mapped = scope.run().mapped[{scope.group(), provider}];
  if (mapped.excess) return;
  const auto is_same = [&](const MappedPlugin& plugin) {
    return plugin.appends == appends && plugin.exec == exec;
  };
  if (std::any_of(mapped.plugins.begin(), mapped.plugins.end(), is_same)) return;
  MappedPlugin plugin = {.file = scope.file(),
                         .path = scope.path_of(path),
                         .place = scope.inside(path).place(),
                         .exec = exec,
                         .appends = appends};
  if (mapped.plugins.size() < MappedPlugins::kMost) {
    mapped.plugins.push_back(std::move(plugin));
  } else {
    mapped.excess = std::move(plugin);
  }
}

void check_choices(Run& run) {
  check_providers_are_mapped(run);
  PluginReadings readings;
  check_inputs(run, readings);
  const std::set<std::string> fields = judged_fields();
  for (const ProfileInput& input : run.inputs) {
    for (const std::string& field : fields) check_choice(run, readings, input, field);
  }
}

}  // namespace execcred::lint

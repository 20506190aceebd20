// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "secrets.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/text.hpp>
#include <execcred/exec/settings.hpp>

#include <algorithm>
#include <utility>

namespace execcred::lint {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kVariablePrefix = "EXECCRED_";

// As in the plugins' parser, the value of a known option may start with one dash, but not with two.
bool may_be_value(std::string_view argument, bool is_known_option) {
  if (!is_known_option) return !argument.starts_with('-');
  return !argument.starts_with("--") && argument != "-" + std::string(kBoundaryFlag);
}

std::string hint_of(const Error& error, const DeclaredOptions& options) {
  return error.hint.empty() ? "see " + options.page() : error.hint;
}

// The error's message, which quotes the refused value. If that may be a secret, only the option is
// named.
std::string message_of(const Error& error, std::string_view name, std::string_view value) {
  if (!may_be_secret(name, value)) return error.message;
  return "--" + std::string(name) + " has a value that is refused";
}

Texts texts_of(const ExecConfig& exec, const Argument& argument) {
  const auto begin = exec.args.begin() + static_cast<std::ptrdiff_t>(argument.index);
  return {begin, begin + static_cast<std::ptrdiff_t>(argument.count)};
}

void check_argument(const Scope& scope, const DeclaredOptions& options, Settings& settings,
                    const std::vector<std::string>& texts, const Argument& argument,
                    const std::string& path) {
  Status read = settings.read_arguments(texts);
  if (read) {
    // The value is read in settings of its own, because an option that was stored once is not read
    // again.
    Settings alone(options.set());
    read = alone.read_arguments(texts);
    if (read) read = alone.store();
  }
  if (read) return;
  scope.error(path, message_of(read.error(), argument.name, argument.value),
              hint_of(read.error(), options));
}

void check_arguments(const Scope& scope, const ExecConfig& exec, const DeclaredOptions& options,
                     Settings& settings, const std::string& path) {
  for (const Argument& argument : split_arguments(exec.args, &options.set())) {
    if (argument.name.empty()) {
      scope.error(path + step(argument.index), "is no option",
                  "every argument is an option: --name=value");
      continue;
    }
    const bool is_foreign = !options.is_complete() && options.set().find(argument.name) == nullptr;
    if (is_foreign) continue;
    check_argument(scope, options, settings, texts_of(exec, argument), argument,
                   path + step(argument.index));
  }
}

void check_variable(const Scope& scope, const EnvironmentVariable& variable,
                    const DeclaredOptions& options, const ExecSettings& given,
                    const std::string& path) {
  if (!variable.name.starts_with(kVariablePrefix)) return;
  const Option* option = options.find_variable(variable.name);
  const std::string subject = in_quotes(variable.name);
  if (option == nullptr) {
    if (options.is_complete()) {
      scope.warning(path + ".name", "is " + subject + ", which the plugin does not read",
                    "see " + options.page() + " for the variables that it reads");
    }
    return;
  }
  if (!option->has_environment) {
    scope.warning(path + ".name",
                  "is " + subject + ", but " + option->flag() + " is not read from the environment",
                  "set " + option->flag() + " in args");
    return;
  }
  if (!given.settings.is_used(*option)) return;
  Settings alone(options.set());
  Status read = alone.read_environment(Environment({variable.name + "=" + variable.value}));
  if (read) read = alone.store(*option);
  if (read) return;
  scope.error(path + ".value", message_of(read.error(), option->name, variable.value),
              hint_of(read.error(), options));
}

// The option that this variable of other programs sets; nullptr if there is none.
const Option* option_of(const OptionSet& options, std::string_view variable) {
  for (const Option& option : options.all()) {
    const auto& names = option.variables;
    if (std::find(names.begin(), names.end(), variable) != names.end()) return &option;
  }
  return nullptr;
}

// Reports other programs' variables that the plugin would refuse, if it reads them with its other
// options.
void check_other_variables(const Scope& scope, const ExecConfig& exec,
                           const DeclaredOptions& options, const std::string& path) {
  // The other options say which variables are read. What is wrong in them is reported elsewhere.
  Settings others(options.set());
  if (!others.read_arguments(exec.args) || !others.read_environment(environment_of(exec))) return;
  while (!others.store()) continue;
  for (std::size_t i = 0; i < exec.env.size(); ++i) {
    const EnvironmentVariable& variable = exec.env[i];
    const Option* const option = option_of(options.set(), variable.name);
    if (option == nullptr) continue;
    Settings alone = others;
    Status read = alone.read_variables(Environment({variable.name + "=" + variable.value}));
    if (read) read = alone.store();
    if (read) continue;
    scope.error(join_path(path, "env") + step(i) + ".value",
                message_of(read.error(), option->name, variable.value),
                hint_of(read.error(), options));
  }
}

}  // namespace

std::vector<Argument> split_arguments(const std::vector<std::string>& args,
                                      const OptionSet* options) {
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view text = args[i];
    Argument argument{.index = i};
    const std::size_t dashes = text.starts_with("--") ? 2 : text.starts_with('-') ? 1 : 0;
    const std::size_t equals = std::min(text.find('='), text.size());
    if (dashes == 0 || text.size() == dashes) {
      argument.value = text;
      arguments.push_back(std::move(argument));
      continue;
    }
    argument.name = text.substr(dashes, std::max(equals, dashes) - dashes);
    const Option* option = options == nullptr ? nullptr : options->find(argument.name);
    const bool is_switch = option != nullptr && option->is_switch();
    if (equals < text.size()) {
      argument.value = text.substr(equals + 1);
    } else if (!is_switch && i + 1 < args.size() && may_be_value(args[i + 1], option != nullptr)) {
      argument.value = args[++i];
      argument.count = 2;
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

namespace {

// The variable of a repeatable option contains a list.
std::vector<std::string_view> values_in(std::string_view text, const Option* option) {
  if (option != nullptr && !option->is_repeatable) return {text};
  return split(text, ',');
}

}  // namespace

std::vector<Given> given_in(const ExecConfig& exec, const DeclaredOptions& options,
                            const std::string& path) {
  std::vector<Given> given;
  for (Argument& argument : split_arguments(exec.args, &options.set())) {
    given.push_back({.name = std::move(argument.name),
                     .value = std::move(argument.value),
                     .path = join_path(path, "args") + step(argument.index)});
  }
  for (std::size_t i = 0; i < exec.env.size(); ++i) {
    const Option* const option = options.find_variable(exec.env[i].name);
    if (option == nullptr || !option->has_environment || exec.env[i].value.empty()) continue;
    for (const std::string_view value : values_in(exec.env[i].value, option)) {
      given.push_back({.name = std::string(option->name),
                       .value = std::string(trim(value)),
                       .path = join_path(path, "env") + step(i) + ".value"});
    }
  }
  return given;
}

std::vector<std::string> values_of(const ExecConfig& exec, const DeclaredOptions& options,
                                   std::string_view name) {
  std::vector<std::string> values;
  for (const Argument& argument : split_arguments(exec.args, &options.set())) {
    if (argument.name == name) values.push_back(argument.value);
  }
  const Option* option = options.set().find(name);
  Texts names;
  if (option == nullptr || option->has_environment) names.push_back(environment_name(name));
  if (option != nullptr)
    names.insert(names.end(), option->variables.begin(), option->variables.end());
  for (auto at = names.begin(); values.empty() && at != names.end(); ++at) {
    for (const EnvironmentVariable& variable : exec.env) {
      if (variable.name != *at || variable.value.empty()) continue;
      for (const std::string_view value : values_in(variable.value, option)) {
        values.emplace_back(value);
      }
    }
  }
  return values;
}

bool is_given(const ExecConfig& exec, const DeclaredOptions& options, std::string_view name) {
  return !values_of(exec, options, name).empty();
}

Environment environment_of(const ExecConfig& exec) {
  std::vector<std::string> entries;
  entries.reserve(exec.env.size());
  for (const EnvironmentVariable& variable : exec.env) {
    entries.push_back(variable.name + "=" + variable.value);
  }
  return Environment(std::move(entries));
}

ExecSettings::ExecSettings(const ExecConfig& exec)
    : options(program_name(exec.command)),
      environment(environment_of(exec)),
      settings(options.set()) {
  const auto note = [this](const Status& read) {
    is_whole = is_whole && read.has_value();
    return read.has_value();
  };
  for (const Argument& argument : split_arguments(exec.args, &options.set())) {
    note(settings.read_arguments(texts_of(exec, argument)));
  }
  note(settings.read_environment(environment));
  note(settings.read_variables(environment));
  while (!note(settings.store())) continue;
}

const Option* judged_option(const DeclaredOptions& options, std::string_view field) {
  for (const Option& option : options.set().all()) {
    const std::vector<std::string>& fields = option.config_fields;
    const bool is_its = std::find(fields.begin(), fields.end(), field) != fields.end();
    if (is_its && option.judge != nullptr) return &option;
  }
  return nullptr;
}

void check_settings(const Scope& scope, const ExecConfig& exec, const DeclaredOptions& options,
                    const ExecSettings& given, const std::string& path) {
  Settings settings(options.set());
  check_arguments(scope, exec, options, settings, join_path(path, "args"));
  for (std::size_t i = 0; i < exec.env.size(); ++i) {
    check_variable(scope, exec.env[i], options, given, join_path(path, "env") + step(i));
  }
  for (const Option& option : options.set().all()) {
    if (!option.is_required_of_controller() || is_given(exec, options, option.name)) continue;
    scope.error(join_path(path, "args"), "lacks " + option.flag() + ", which is required",
                "add " + option.flag() + "=" + std::string(option.value_name));
  }
  if (!options.is_complete()) return;
  check_other_variables(scope, exec, options, path);
  // Problems of single options were reported before, and stop the check of all together.
  const Status checked =
      given.is_whole ? given.options.check(given.settings, given.environment) : Status();
  if (checked) return;
  scope.error(join_path(path, "args"), "is refused by the plugin: " + checked.error().message,
              hint_of(checked.error(), options));
}

Error placed(Error error, const std::string& path) {
  if (error.message.starts_with(kConfigPath)) error.message.replace(0, kConfigPath.size(), path);
  return error;
}

void check_shared_config(const Scope& scope, const json::Value& config, const std::string& path) {
  if (config.object() == nullptr) return;
  DeclaredOptions options("");
  const Settings settings(options.set());
  for (const json::Member& member : *config.object()) {
    const Status read = options.read_field(settings, member, {});
    if (read) continue;
    const Error error = placed(read.error(), path);
    scope.add(Severity::error, error, path,
              error.hint.empty() ? std::string("see docs/options.md") : error.hint);
  }
}

}  // namespace execcred::lint

// SPDX-License-Identifier: Apache-2.0
#include <execcred/json_reader.hpp>
#include <execcred/provider_mapping.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace execcred {
namespace {

using json::ObjectReader;

constexpr std::size_t kMaxMapping = 1024 * 1024;

template <class T>
struct Choice {
  std::string_view name;
  T value;
};

// One of a few words; absent and "" are the first.
template <class T, std::size_t N>
Result<T> read_choice(const ObjectReader& object, std::string_view field,
                      const std::array<Choice<T>, N>& choices) {
  TRY_ASSIGN(const std::optional<std::string> text, object.optional_string(field));
  if (!text || text->empty()) return choices.front().value;
  std::vector<std::string> names;
  for (const Choice<T>& choice : choices) {
    if (choice.name == *text) return choice.value;
    names.emplace_back(choice.name);
  }
  Error error = json::field_error(object.path_of(field), "is " + in_quotes(*text));
  error.hint = "it may be " + join(names, " or ");
  return error;
}

// The controller's own text: arguments and values may have lines, but no NUL.
Result<std::string> read_text(const json::Value& value, const std::string& path) {
  const std::string* text = value.string();
  if (text == nullptr) {
    return json::field_error(path, "must be a string, not " + std::string(value.kind()));
  }
  if (text->find('\0') != std::string::npos) return json::field_error(path, "has a NUL character");
  return *text;
}

Result<std::string> read_text(const ObjectReader& object, std::string_view field) {
  const json::Value* value = object.find(field);
  if (value == nullptr) return std::string();
  return read_text(*value, object.path_of(field));
}

Result<std::vector<std::string>> read_arguments(const ObjectReader& exec) {
  std::vector<std::string> arguments;
  const json::Value* value = exec.find("args");
  if (value == nullptr) return arguments;
  const std::string path = exec.path_of("args");
  if (value->array() == nullptr) {
    return json::field_error(path,
                             "must be an array of strings, not " + std::string(value->kind()));
  }
  for (const json::Value& item : *value->array()) {
    TRY_ASSIGN(std::string argument,
               read_text(item, path + "[" + std::to_string(arguments.size()) + "]"));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Result<std::vector<EnvironmentVariable>> read_variables(const ObjectReader& exec) {
  TRY_ASSIGN(const std::vector<ObjectReader> entries, exec.objects("env"));
  std::vector<EnvironmentVariable> variables;
  for (const ObjectReader& entry : entries) {
    EnvironmentVariable variable;
    TRY_ASSIGN(variable.name, entry.required_string("name"));
    if (variable.name.find('=') != std::string::npos) {
      return json::field_error(entry.path_of("name"), "has a '='");
    }
    TRY_ASSIGN(variable.value, read_text(entry, "value"));
    variables.push_back(std::move(variable));
  }
  return variables;
}

Result<ExecConfig> read_exec(const ObjectReader& object) {
  constexpr std::array<Choice<std::string_view>, 4> kModes = {
      {{"", ""}, {"Never", "Never"}, {"IfAvailable", "IfAvailable"}, {"Always", "Always"}}};
  ExecConfig exec;
  TRY_ASSIGN(const std::string version, object.required_string("apiVersion"));
  exec.api_version =
      version == full_name(ApiVersion::v1beta1) ? ApiVersion::v1beta1 : ApiVersion::v1;
  if (version != full_name(exec.api_version)) {
    Error error = json::field_error(object.path_of("apiVersion"), "is " + in_quotes(version));
    error.hint =
        "it may be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1";
    return error;
  }
  TRY_ASSIGN(exec.command, object.required_string("command"));
  if (!exec.command.starts_with('/')) {
    Error error = json::field_error(object.path_of("command"),
                                    "is " + in_quotes(exec.command) + ", no absolute path");
    error.hint = "clients look a relative command up in PATH, which others may set";
    return error;
  }
  TRY_ASSIGN(exec.args, read_arguments(object));
  TRY_ASSIGN(exec.env, read_variables(object));
  TRY_ASSIGN(exec.install_hint, read_text(object, "installHint"));
  TRY_ASSIGN(const std::string_view mode, read_choice(object, "interactiveMode", kModes));
  exec.interactive_mode = mode;
  TRY_ASSIGN(exec.provide_cluster_info, object.boolean_or_false("provideClusterInfo"));
  return exec;
}

Result<MappedProvider> read_provider(const ObjectReader& entry) {
  constexpr std::array<Choice<ArgumentsPolicy>, 2> kArguments = {
      {{"Ignore", ArgumentsPolicy::ignore}, {"Append", ArgumentsPolicy::append}}};
  constexpr std::array<Choice<VariablesPolicy>, 3> kVariables = {
      {{"Ignore", VariablesPolicy::ignore},
       {"AppendIfNotExists", VariablesPolicy::append_if_not_exists},
       {"Replace", VariablesPolicy::replace}}};
  MappedProvider provider;
  provider.path = entry.path();
  TRY_ASSIGN(provider.name, entry.required_string("name"));
  TRY_ASSIGN(const ObjectReader exec, entry.required_object("execConfig"));
  TRY_ASSIGN(provider.exec, read_exec(exec));
  TRY_ASSIGN(provider.arguments_policy,
             read_choice(entry, "profileSourcedCLIArgsPolicy", kArguments));
  TRY_ASSIGN(provider.variables_policy,
             read_choice(entry, "profileSourcedEnvVarsPolicy", kVariables));
  return provider;
}

}  // namespace

Result<ProviderMapping> parse_provider_mapping(std::string_view text) {
  const Result<json::Value> value =
      json::parse(text, {.bytes = kMaxMapping, .keys = json::Keys::ignore_case});
  if (!value) return json::field_error("", value.error().message);
  TRY_ASSIGN(const ObjectReader document, ObjectReader::open(*value, "", json::Keys::ignore_case));
  if (document.find("providers") == nullptr) return json::field_error("providers", "is missing");
  TRY_ASSIGN(const std::vector<ObjectReader> entries, document.objects("providers"));
  ProviderMapping mapping;
  for (const ObjectReader& entry : entries) {
    TRY_ASSIGN(MappedProvider provider, read_provider(entry));
    const bool is_taken = std::any_of(
        mapping.providers.begin(), mapping.providers.end(),
        [&provider](const MappedProvider& other) { return other.name == provider.name; });
    if (is_taken) {
      return json::field_error(entry.path_of("name"), "is " + in_quotes(provider.name) +
                                                          ", like that of an entry before it");
    }
    mapping.providers.push_back(std::move(provider));
  }
  return mapping;
}

json::Value to_json(const ExecConfig& exec) {
  using json::Value;
  Value object((json::Object()));
  object.add("apiVersion", Value(full_name(exec.api_version)));
  object.add("command", Value(exec.command));
  if (!exec.args.empty()) {
    json::Array args;
    for (const std::string& argument : exec.args) args.emplace_back(argument);
    object.add("args", Value(std::move(args)));
  }
  if (!exec.env.empty()) {
    json::Array env;
    for (const EnvironmentVariable& variable : exec.env) {
      env.emplace_back(
          json::Object{{"name", Value(variable.name)}, {"value", Value(variable.value)}});
    }
    object.add("env", Value(std::move(env)));
  }
  if (!exec.install_hint.empty()) object.add("installHint", Value(exec.install_hint));
  // v1 demands the field; a controller has no terminal.
  object.add("interactiveMode",
             Value(exec.interactive_mode.empty() ? std::string("Never") : exec.interactive_mode));
  object.add("provideClusterInfo", Value(exec.provide_cluster_info));
  return object;
}

}  // namespace execcred

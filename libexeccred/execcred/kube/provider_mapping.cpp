// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/provider_mapping.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/field_table.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/command_hint.hpp>
#include <execcred/os/file.hpp>

#include <filesystem>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace execcred {
namespace {

void read_exec(const ObjectReader& entry, std::string_view name, MappedProvider& provider,
               Problems& problems) {
  const Result<ObjectReader> exec = entry.required_object(name);
  if (!exec) {
    problems.push_back(exec.error());
    return;
  }
  ExecInspection inspection = inspect_exec_config(*exec, CommandRule::absolute);
  provider.exec = std::move(inspection.exec);
  std::move(inspection.problems.begin(), inspection.problems.end(), std::back_inserter(problems));
}

constexpr std::array<Choice<ArgumentsPolicy>, 2> kArgumentsPolicies = {
    {{"Ignore", ArgumentsPolicy::ignore}, {"Append", ArgumentsPolicy::append}}};
constexpr std::array<Choice<VariablesPolicy>, 3> kVariablesPolicies = {
    {{"Ignore", VariablesPolicy::ignore},
     {"AppendIfNotExists", VariablesPolicy::append_if_not_exists},
     {"Replace", VariablesPolicy::replace}}};

using ProviderField = Field<MappedProvider>;
constexpr std::array<ProviderField, 4> kProviderFields = {{
    {"name", read_member<&MappedProvider::name, &ObjectReader::required_string>},
    {"execConfig", read_exec},
    {"profileSourcedCLIArgsPolicy",
     read_member<&MappedProvider::arguments_policy, read_choice_of<kArgumentsPolicies>>},
    {"profileSourcedEnvVarsPolicy",
     read_member<&MappedProvider::variables_policy, read_choice_of<kVariablesPolicies>>},
}};

void read_providers(const ObjectReader& document, MappingInspection& inspection) {
  Problems& problems = inspection.problems;
  if (document.find("providers") == nullptr) {
    problems.push_back(json::field_error("providers", "is missing"));
  }
  std::unordered_set<std::string> names;
  for (const ObjectReader& entry : objects(document, "providers", problems)) {
    MappedProvider provider;
    provider.path = entry.path();
    read_fields(kProviderFields, entry, provider, problems);
    if (!provider.name.empty() && !names.insert(provider.name).second) {
      problems.push_back(json::field_error(
          entry.path_of("name"),
          "is " + in_quotes(provider.name) + ", like that of an entry before it"));
    }
    inspection.mapping.providers.push_back(std::move(provider));
  }
}

}  // namespace

MappingInspection inspect_provider_mapping(std::string_view text) {
  MappingInspection inspection;
  Result<json::Value> value =
      json::parse(text, {.bytes = kMaxMapping, .keys = json::Keys::ignore_case});
  if (!value) {
    inspection.problems.push_back(json::field_error("", value.error().message));
    // Keys that differ only in case must not hide another problem.
    value = json::parse(text, {.bytes = kMaxMapping});
    if (!value) return inspection;
  }
  const Result<ObjectReader> document = ObjectReader::open(*value, "", json::Keys::ignore_case);
  if (document) {
    read_providers(*document, inspection);
  } else {
    inspection.problems.push_back(document.error());
  }
  return inspection;
}

Result<ProviderMapping> parse_provider_mapping(std::string_view text) {
  MappingInspection inspection = inspect_provider_mapping(text);
  if (!inspection.problems.empty()) return std::move(inspection.problems.front());
  return std::move(inspection.mapping);
}

std::vector<std::string_view> mapped_provider_fields() { return names_of(kProviderFields); }

Result<ProviderMapping> load_mapping(const std::filesystem::path& path) {
  const std::string text = TRY(read_file(path, kMaxMapping));
  return parse_provider_mapping(text)
      .context("reading " + in_quotes(path.native()))
      .hint("the format is that of config/clusterprofile-provider-file.json");
}

namespace {

// The text of the controller itself: arguments and values may have several lines, but no NUL.
Result<std::string> read_text(const json::Value& value, const std::string& path) {
  const std::string* text = value.string();
  if (text == nullptr) return json::wrong_kind(path, "a string", value);
  if (text->find('\0') != std::string::npos) return json::field_error(path, "has a NUL character");
  return *text;
}

Result<std::string> text_or_empty(const ObjectReader& object, std::string_view field) {
  const json::Value* value = object.find(field);
  if (value == nullptr) return std::string();
  return read_text(*value, object.path_of(field));
}

Result<ApiVersion> read_version(const ObjectReader& exec, std::string_view field) {
  const std::string version = TRY(exec.required_string(field));
  for (const ApiVersion known : {ApiVersion::v1, ApiVersion::v1beta1}) {
    if (version == full_name(known)) return known;
  }
  Error error = json::field_error(exec.path_of(field), "is " + in_quotes(version));
  error.hint = "it may be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1";
  return error;
}

void read_arguments(const ObjectReader& exec, std::string_view field, ExecConfig& target,
                    Problems& problems) {
  std::size_t index = 0;
  for (const json::Value& item : elements(exec, field, "an array of strings", problems)) {
    std::string argument;
    keep(read_text(item, element_path(exec, field, index++)), argument, problems);
    target.args.push_back(std::move(argument));
  }
}

Result<std::string> read_variable_name(const ObjectReader& entry) {
  std::string name = TRY(entry.required_string("name"));
  if (name.find('=') == std::string::npos) return name;
  return json::field_error(entry.path_of("name"), "has a '='");
}

void read_variables(const ObjectReader& exec, std::string_view field, ExecConfig& target,
                    Problems& problems) {
  for (const ObjectReader& entry : objects(exec, field, problems)) {
    EnvironmentVariable variable;
    keep(read_variable_name(entry), variable.name, problems);
    keep(text_or_empty(entry, "value"), variable.value, problems);
    target.env.push_back(std::move(variable));
  }
}

Result<std::string> read_mode(const ObjectReader& exec, std::string_view field) {
  constexpr std::array<Choice<std::string_view>, 4> kModes = {
      {{"", ""}, {"Never", "Never"}, {"IfAvailable", "IfAvailable"}, {"Always", "Always"}}};
  const std::string_view mode = TRY(read_choice(exec, field, kModes));
  return std::string(mode);
}

Status check_absolute(const ObjectReader& exec, const std::string& command) {
  if (command.empty() || command.starts_with('/')) return {};
  Error error =
      json::field_error(exec.path_of("command"), "is " + in_quotes(command) + ", no absolute path");
  error.hint = missing_command_hint(command, relative_command_hint(command));
  return error;
}

using ExecField = Field<ExecConfig>;
constexpr std::array<ExecField, 7> kExecFields = {{
    {"apiVersion", read_member<&ExecConfig::api_version, read_version>},
    {"command", read_member<&ExecConfig::command, &ObjectReader::required_string>},
    {"args", read_arguments},
    {"env", read_variables},
    {"installHint", read_member<&ExecConfig::install_hint, text_or_empty>},
    {"interactiveMode", read_member<&ExecConfig::interactive_mode, read_mode>},
    {"provideClusterInfo",
     read_member<&ExecConfig::provide_cluster_info, &ObjectReader::boolean_or_false>},
}};

}  // namespace

std::string name_in_path(std::string_view command) {
  if (command.find('/') == std::string_view::npos) return std::string(command);
  std::string cleaned = std::filesystem::path(command).lexically_normal().native();
  if (cleaned.ends_with('/')) cleaned.pop_back();
  return cleaned.find('/') == std::string::npos ? cleaned : std::string();
}

std::string relative_command_hint(std::string_view command) {
  if (command.find('/') == std::string_view::npos) {
    return "clients look a relative command up in PATH, which others may set";
  }
  const std::string name = name_in_path(command);
  return "write its absolute path: clients start it from the folder that their caller is in" +
         (name.empty()
              ? std::string()
              : ", and client-go 0.35 and newer looks " + in_quotes(name) + " up in PATH instead");
}

ExecInspection inspect_exec_config(const ObjectReader& object, CommandRule rule) {
  ExecInspection inspection;
  read_fields(kExecFields, object, inspection.exec, inspection.problems);
  if (rule == CommandRule::absolute) {
    const Status absolute = check_absolute(object, inspection.exec.command);
    if (!absolute) inspection.problems.push_back(absolute.error());
  }
  return inspection;
}

std::vector<std::string_view> exec_config_fields() { return names_of(kExecFields); }

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
  // v1 demands the field. The default is Never, because a controller has no terminal.
  object.add("interactiveMode",
             Value(exec.interactive_mode.empty() ? std::string("Never") : exec.interactive_mode));
  object.add("provideClusterInfo", Value(exec.provide_cluster_info));
  return object;
}

}  // namespace execcred

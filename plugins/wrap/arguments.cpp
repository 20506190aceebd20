// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/template.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace execcred::wrap {
namespace {

constexpr std::size_t kMaxValue = 253;

Error refused(std::string message, std::string hint = {}) {
  return Error::by_rule(cause::kConfigRefused, std::move(message), std::move(hint));
}

Status check_has_permission(const Options& options, std::string_view field) {
  const std::vector<AllowedField>& all = options.allowed_fields;
  if (std::any_of(all.begin(), all.end(),
                  [field](const AllowedField& allowed) { return allowed.field == field; })) {
    return {};
  }
  return Error::configuration(
      "{config." + std::string(field) + "} is not allowed: there is no --allow-config",
      "set --allow-config=" + std::string(field) + "=PATTERN");
}

// A value must not become an option's name, or a part of it.
Status check_name(std::string_view argument) {
  const bool is_long = argument.starts_with("--");
  const bool has_value = is_long ? !placeholders_in(argument.substr(0, argument.find('='))).empty()
                                 : argument.starts_with("-{") && !argument.starts_with("-{{");
  if (!has_value) return {};
  return Error::configuration("the argument would let a value be an option's name",
                              "write the option's name and '=' before the placeholder");
}

Status check_value(const Options& options, std::string_view field, const std::string& value) {
  const std::string what =
      std::string(kConfigPath) + "." + std::string(field) + " " + in_quotes(value);
  if (value.size() > kMaxValue) {
    return refused(what + " is longer than " + std::to_string(kMaxValue) + " characters");
  }
  if (!is_visible_ascii(value)) {
    return refused(what + " has a character other than visible ASCII");
  }
  std::vector<std::string> patterns;
  std::string rest;
  for (const AllowedField& allowed : options.allowed_fields) {
    if (allowed.field != field) continue;
    if (allowed.pattern.matches(value)) return {};
    patterns.push_back(in_quotes(allowed.pattern.text()));
    if (allowed.pattern.is_prefix()) {
      rest = "; for the *, only letters, digits and -._~:/@+= without '..' and '//'";
    }
  }
  return refused(what + " matches no --allow-config", "allowed: " + join(patterns, ", ") + rest);
}

Result<std::string> value_of(const Options& options, std::string_view field, const ExecInfo& info) {
  TRY(check_has_permission(options, field));
  const std::string name = "{config." + std::string(field) + "}";
  if (!info.cluster) return missing_cluster_info(name);
  const json::Value* const value = info.cluster->config.find(field);
  const std::string path = std::string(kConfigPath) + "." + std::string(field);
  const bool is_absent = value == nullptr || value->is_null();
  if (is_absent || (value->string() != nullptr && value->string()->empty())) {
    return Error::configuration(
        name + " needs " + path + ", which is " + (is_absent ? "missing" : "empty"),
        "set it in the ClusterProfile's extension client.authentication.k8s.io/exec");
  }
  if (value->string() == nullptr) {
    return json::wrong_kind(path, "a string", *value);
  }
  TRY(check_value(options, field, *value->string()));
  return *value->string();
}

// The value's first character would make the argument an option.
Status check_expanded(std::string_view argument, const std::string& expanded) {
  const bool begins_with_value = argument.starts_with('{') && !argument.starts_with("{{");
  if (!begins_with_value || !expanded.starts_with('-')) return {};
  return refused("the value begins with '-', so the program would read it as an option",
                 "write the option's name and '=' before the placeholder");
}

Result<std::vector<std::string>> expand(const Options& options, std::string_view cluster_name,
                                        const ExecInfo& info, const FieldValue& field_value) {
  std::vector<std::string> arguments;
  for (const std::string& argument : options.command.arguments) {
    Result<std::string> expanded = [&]() -> Result<std::string> {
      TRY(check_name(argument));
      std::string text = TRY(expand_template(argument, cluster_name, info, field_value));
      TRY(check_expanded(argument, text));
      return text;
    }();
    // Not the argument itself, which may have a secret.
    arguments.push_back(TRY(std::move(expanded).context(
        "expanding argument " + std::to_string(arguments.size() + 1) + " of --command")));
  }
  return arguments;
}

}  // namespace

Status check_arguments(const Options& options) {
  ExecInfo example;
  example.cluster = Cluster{.server = "https://server.example.com"};
  TRY(expand(options, "cluster", example,
             [&options](std::string_view field) -> Result<std::string> {
               TRY(check_has_permission(options, field));
               return std::string("value");
             }));
  return {};
}

Result<std::vector<std::string>> expand_arguments(const Options& options,
                                                  const CredentialRequest& request) {
  return expand(options, request.cluster_name, request.info,
                [&](std::string_view field) { return value_of(options, field, request.info); });
}

bool has_placeholder(const std::vector<std::string>& arguments, std::string_view start) {
  return std::any_of(arguments.begin(), arguments.end(), [start](const std::string& argument) {
    const std::vector<std::string_view> names = placeholders_in(argument);
    return std::any_of(names.begin(), names.end(),
                       [start](std::string_view name) { return name.starts_with(start); });
  });
}

}  // namespace execcred::wrap

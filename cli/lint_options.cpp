// SPDX-License-Identifier: Apache-2.0
#include "lint_options.hpp"

#include "lint_static_secret.hpp"

#include <execcred/environment.hpp>
#include <execcred/settings.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace execcred::lint {
namespace {

constexpr std::string_view kVariablePrefix = "EXECCRED_";

Result<Duration> parse_max_age(const std::string& text) {
  TRY_ASSIGN(const Duration max_age, parse_duration(text));
  if (max_age >= std::chrono::seconds(1)) return max_age;
  return Error{.kind = Error::Kind::configuration, .message = in_quotes(text) + " is below 1s"};
}

// As the plugins' parser has it: a value may start with one dash, never with two.
bool may_be_value(std::string_view argument, bool is_known_option) {
  if (!is_known_option) return !argument.starts_with('-');
  return !argument.starts_with("--") && argument != "-" + std::string(kBoundaryFlag);
}

std::string hint_of(const Error& error) {
  return error.hint.empty() ? "see docs/options.md" : error.hint;
}

void check_argument(const Scope& scope, const PluginOptions& options, Settings& settings,
                    const std::vector<std::string>& texts, const std::string& path) {
  Status read = settings.read_arguments(texts);
  if (read) {
    // On its own, because an option that was stored once is not read again.
    Settings alone(options.set());
    read = alone.read_arguments(texts);
    if (read) read = alone.store();
  }
  if (!read) scope.error(path, read.error().message, hint_of(read.error()));
}

void check_arguments(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                     Settings& settings, const std::string& path) {
  for (const Argument& argument : split_arguments(exec.args, &options.set())) {
    if (argument.name.empty()) {
      scope.error(path + step(argument.index), "is no option",
                  "every argument is an option: --name=value");
      continue;
    }
    const bool is_foreign = !options.is_complete() && options.set().find(argument.name) == nullptr;
    if (is_foreign) continue;
    const auto begin = exec.args.begin() + static_cast<std::ptrdiff_t>(argument.index);
    const std::vector<std::string> texts(begin,
                                         begin + static_cast<std::ptrdiff_t>(argument.count));
    check_argument(scope, options, settings, texts, path + step(argument.index));
  }
}

void check_variable(const Scope& scope, const EnvironmentVariable& variable,
                    const PluginOptions& options, const std::string& path) {
  if (!variable.name.starts_with(kVariablePrefix)) return;
  const Option* option = options.find_variable(variable.name);
  const std::string subject = in_quotes(variable.name);
  if (option == nullptr) {
    if (options.is_complete()) {
      scope.warning(path + ".name", "is " + subject + ", which the plugin does not read",
                    "see docs/options.md for the variables that it reads");
    }
    return;
  }
  if (!option->has_environment) {
    scope.warning(path + ".name",
                  "is " + subject + ", but " + option->flag() + " is not read from the environment",
                  "set " + option->flag() + " in args");
    return;
  }
  Settings alone(options.set());
  Status read = alone.read_environment(Environment({variable.name + "=" + variable.value}));
  if (read) read = alone.store();
  if (!read) scope.error(path + ".value", read.error().message, hint_of(read.error()));
}

}  // namespace

std::string_view program_name(std::string_view command) {
  return command.substr(command.rfind('/') + 1);
}

bool is_plugin_of_ours(std::string_view command) {
  return program_name(command).starts_with("execcred-");
}

PluginOptions::PluginOptions(std::string_view program) {
  add_shared();
  if (program == "execcred-token-file") add_token_file();
  if (program == kStaticSecret) add_static_secret();
}

// The table of docs/options.md.
void PluginOptions::add_shared() {
  const auto server = [](const std::string& text) {
    return UrlPattern::parse(text, UrlPattern::Use::server);
  };
  const auto proxy = [](const std::string& text) {
    return UrlPattern::parse(text, UrlPattern::Use::proxy);
  };
  set_.add("exec-info", text_, "PATH|-", "").no_environment();
  set_.add_parsed("api-version", version_, "VERSION", "",
                  [](const std::string& text) { return parse_api_version(text); });
  set_.add_parsed("timeout", duration_, "DURATION", "", parse_timeout);
  set_.add_parsed("max-age", duration_, "DURATION", "", parse_max_age);
  set_.add_parsed("allow-server", urls_, "PATTERN", "", server);
  set_.add_parsed("allow-proxy", urls_, "PATTERN", "", proxy).no_environment();
  set_.add("server-ca-file", text_, "PATH", "").no_environment();
  set_.add_parsed("allow-audience", audiences_, "PATTERN|server|any", "",
                  [](const std::string& text) { return AudiencePattern::parse(text); });
  set_.add("cluster", text_, "NAME", "").from_profile(Option::Profile::config, {"clusterName"});
  set_.add(kBoundaryFlag, switch_, "").no_environment();
  set_.add("show-config", switch_, "").no_environment();
  set_.add("debug", switch_, "");
  set_.add("version", switch_, "").no_environment();
  set_.add("help", switch_, "").short_name('h').no_environment();
}

void PluginOptions::add_token_file() {
  set_.add("token-file", text_, "PATH", "").required();
  set_.add("audience", texts_, "AUDIENCE", "").from_profile();
  is_complete_ = true;
}

void PluginOptions::add_static_secret() {
  const auto server = [](const std::string& text) {
    return UrlPattern::parse(text, UrlPattern::Use::server);
  };
  const auto profile = Option::Profile::config_and_arguments;
  set_.add_parsed("convention", text_, "NAME", "", parse_convention);
  for (const std::string_view path :
       {"kubeconfig", "secret-dir", "kubeconfig-file", "client-certificate", "client-key"}) {
    set_.add(path, text_, "PATH", "");
  }
  set_.add("namespace", text_, "NAMESPACE", "")
      .from_profile(profile, {"namespace", "secretNamespace"});
  set_.add("secret-name", text_, "NAME", "").from_profile(profile, {"name", "secretName"});
  set_.add("key", text_, "KEY", "").from_profile();
  set_.add_parsed("selector", text_, "SELECTOR", "", parse_selector);
  set_.add_parsed("format", text_, "token|kubeconfig|certificate|argocd", "", parse_stored_format);
  set_.add("context", text_, "NAME", "").from_profile();
  set_.add("managed-serviceaccount", text_, "NAME", "");
  set_.add_parsed("allow-namespace", texts_, "NAMESPACE|any", "", parse_allowed_namespace)
      .no_environment();
  set_.add_parsed("require-label", texts_, "KEY=VALUE", "", parse_label);
  set_.add("server-annotation", text_, "KEY", "");
  set_.add_parsed("allow-server-mismatch", urls_, "PATTERN", "", server).no_environment();
  set_.add("allow-hub-token", switch_, "").no_environment();
  set_.add("allow-insecure", switch_, "").no_environment();
  set_.add_parsed("allow-field", texts_, "clientKey|clientCertificate|tokenFile", "",
                  parse_allowed_field)
      .no_environment();
  set_.add("local-cluster", text_, "NAME", "");
  set_.add("both", switch_, "").no_environment();
  is_complete_ = true;
}

const Option* PluginOptions::find_variable(std::string_view name) const {
  for (const Option& option : set_.all()) {
    if (environment_name(option.name) == name) return &option;
  }
  return nullptr;
}

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

std::vector<std::string> values_of(const ExecConfig& exec, const PluginOptions& options,
                                   std::string_view name) {
  std::vector<std::string> values;
  for (const Argument& argument : split_arguments(exec.args, &options.set())) {
    if (argument.name == name) values.push_back(argument.value);
  }
  const Option* option = options.set().find(name);
  const bool has_environment = option == nullptr || option->has_environment;
  if (!values.empty() || !has_environment) return values;
  for (const EnvironmentVariable& variable : exec.env) {
    if (variable.name != environment_name(name)) continue;
    for (const std::string_view value : split(variable.value, ',')) values.emplace_back(value);
  }
  return values;
}

bool is_given(const ExecConfig& exec, const PluginOptions& options, std::string_view name) {
  return !values_of(exec, options, name).empty();
}

void check_settings(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                    const std::string& path) {
  Settings settings(options.set());
  check_arguments(scope, exec, options, settings, join_path(path, "args"));
  for (std::size_t i = 0; i < exec.env.size(); ++i) {
    check_variable(scope, exec.env[i], options, join_path(path, "env") + step(i));
  }
  for (const Option& option : options.set().all()) {
    if (!option.is_required || is_given(exec, options, option.name)) continue;
    scope.error(join_path(path, "args"), "lacks " + option.flag() + ", which is required",
                "add " + option.flag() + "=" + std::string(option.value_name));
  }
}

void check_profile_config(const Scope& scope, const json::Value& config, const std::string& path) {
  if (config.object() == nullptr) return;
  const PluginOptions options("execcred-token-file");
  for (const json::Member& member : *config.object()) {
    json::Value alone((json::Object()));
    alone.add(member.name, member.value);
    const Status read = Settings(options.set()).read_config(alone);
    if (read) continue;
    // The plugin's name for the place becomes that of this document.
    Error error = read.error();
    constexpr std::string_view kPlace = "spec.cluster.config";
    if (error.message.starts_with(kPlace)) error.message.replace(0, kPlace.size(), path);
    scope.add(Severity::error, error, path, hint_of(error));
  }
}

}  // namespace execcred::lint

// SPDX-License-Identifier: Apache-2.0
#include "plugin_options.hpp"

#include <execcred/base/duration.hpp>
#include <execcred/base/text.hpp>

#include <chrono>

namespace execcred::cli {
namespace {

Result<Duration> parse_max_age(const std::string& text) {
  TRY_ASSIGN(const Duration max_age, parse_duration(text));
  if (max_age >= std::chrono::seconds(1)) return max_age;
  return Error{.kind = Error::Kind::configuration, .message = in_quotes(text) + " is below 1s"};
}

}  // namespace

std::string_view program_name(std::string_view command) {
  return command.substr(command.rfind('/') + 1);
}

bool is_plugin_of_ours(std::string_view command) {
  return program_name(command).starts_with("execcred-");
}

PluginOptions::PluginOptions(std::string_view program) : program_(program) {
  add_shared();
  is_complete_ = true;
  if (program == kTokenFile) {
    set_.add("token-file", text_, "PATH", "").required();
    set_.add("audience", texts_, "AUDIENCE", "").from_profile();
  } else if (program == kStaticSecret) {
    static_secret::add_options(set_, static_secret_);
  } else if (program == kOidcFederation) {
    oidc_federation::add_options(set_, oidc_federation_);
  } else if (program == kSpiffe) {
    spiffe::add_options(set_, spiffe_);
  } else if (program == kGoogle) {
    google::add_options(set_, google_);
  } else if (program == kAzure) {
    azure::add_options(set_, azure_);
  } else if (program == kAws) {
    aws::add_options(set_, aws_);
  } else {
    is_complete_ = false;
  }
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

const Option* PluginOptions::find_variable(std::string_view name) const {
  for (const Option& option : set_.all()) {
    if (environment_name(option.name) == name) return &option;
  }
  return nullptr;
}

Status PluginOptions::read(const std::vector<std::string>& arguments,
                           const Environment& environment, Settings& settings) {
  TRY(settings.read_arguments(arguments));
  TRY(settings.read_environment(environment));
  TRY(settings.store());
  if (program_ == kAzure) azure::leave_unused_variables(set_, azure_);
  if (program_ == kStaticSecret) {
    static_secret::declare_profile_fields(set_, static_secret_.convention);
  }
  if (program_ == kOidcFederation && oidc_federation_.flow == oidc_federation::Flow::pinniped) {
    set_.change("audience").unused_from_profile("--flow=pinniped does not use it");
  }
  TRY(settings.read_variables(environment));
  return settings.store();
}

Status PluginOptions::check_profile(Settings settings, std::string_view server) {
  TRY(settings.store());
  const bool mints = (program_ == kOidcFederation &&
                      oidc_federation_.flow != oidc_federation::Flow::pass_through) ||
                     (program_ == kSpiffe && spiffe_.type == spiffe::SvidType::jwt);
  const Setting& audience = settings.get("audience");
  if ((!mints && audiences_.empty()) || !audience.is_from_profile()) return {};
  const ExecInfo info{.cluster = Cluster{.server = std::string(server)}};
  for (const std::string& text : audience.texts) {
    TRY(check_audience({.allow_audience = audiences_}, text, info));
  }
  return {};
}

Status PluginOptions::read_config(const Settings& settings, const json::Value& config,
                                  std::string_view server) {
  Settings with_config = settings;
  TRY(with_config.read_config(config));
  return check_profile(std::move(with_config), server);
}

Status PluginOptions::read_field(const Settings& settings, const json::Member& field,
                                 std::string_view server) {
  json::Value config((json::Object()));
  config.add(field.name, field.value);
  return read_config(settings, config, server);
}

Status PluginOptions::read_appended(const Settings& settings,
                                    const std::vector<std::string>& arguments,
                                    std::string_view server) {
  Settings with_arguments = settings;
  TRY(with_arguments.read_arguments(arguments));
  TRY(with_arguments.check_profile_arguments());
  return check_profile(std::move(with_arguments), server);
}

Status PluginOptions::check(const Settings& settings) const {
  if (program_ == kStaticSecret) return static_secret::check_options(static_secret_);
  if (program_ == kSpiffe) return spiffe::check_options(spiffe_, settings);
  if (program_ == kAzure) return azure::check_options(azure_, settings);
  if (program_ == kAws) return aws::check_options(aws_);
  if (program_ == kOidcFederation) {
    return oidc_federation::check_options(oidc_federation_, settings);
  }
  return {};
}

}  // namespace execcred::cli

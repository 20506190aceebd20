// SPDX-License-Identifier: Apache-2.0
#include "declared_options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/profile_choice.hpp>
#include <list.hpp>

#include <algorithm>

namespace execcred::cli {
namespace {

std::unique_ptr<Provider> make_provider(std::string_view program) {
  for (const PluginDefinition& plugin : all_plugins()) {
    if (plugin.info.name == program) return plugin.make();
  }
  return nullptr;
}

}  // namespace

DeclaredOptions::DeclaredOptions(std::string_view program)
    : program_(program), provider_(make_provider(program)) {
  if (provider_) provider_->add_options(set_);
  add_common_options(set_, common_);
}

const Option* DeclaredOptions::find_variable(std::string_view name) const {
  for (const Option& option : set_.all()) {
    if (environment_name(option.name) == name) return &option;
  }
  return nullptr;
}

Status DeclaredOptions::read(const std::vector<std::string>& arguments,
                             const Environment& environment, Settings& settings,
                             const json::Value& config) {
  TRY(settings.read_arguments(arguments));
  TRY(settings.read_environment(environment));
  TRY(settings.store());
  TRY(settings.read_config(config));
  TRY(settings.read_variables(environment));
  return settings.store();
}

Status DeclaredOptions::check_profile(Settings settings, std::string_view server) {
  TRY(settings.store());
  TRY(check_choices(set_, settings));
  const ExecInfo info{.cluster = Cluster{.server = std::string(server)}};
  return check_audience_choice(set_, settings, common_.rules, info);
}

Status DeclaredOptions::read_config(const Settings& settings, const json::Value& config,
                                    std::string_view server) {
  Settings with_config = settings;
  TRY(with_config.read_config(config));
  return check_profile(std::move(with_config), server);
}

Status DeclaredOptions::read_field(const Settings& settings, const json::Member& field,
                                   std::string_view server) {
  json::Value config((json::Object()));
  config.add(field.name, field.value);
  return read_config(settings, config, server);
}

Status DeclaredOptions::read_appended(const Settings& settings,
                                      const std::vector<std::string>& arguments,
                                      std::string_view server) {
  Settings with_arguments = settings;
  TRY(with_arguments.read_arguments(arguments));
  TRY(with_arguments.check_profile_arguments());
  return check_profile(std::move(with_arguments), server);
}

Result<std::string> DeclaredOptions::principal(const Settings& settings,
                                               const Environment& environment,
                                               const Cluster& cluster) const {
  if (!provider_) return std::string();
  CredentialRequest request;
  request.plugin = program_;
  request.info.cluster = cluster;
  request.cluster_name = common_.cluster_name;
  request.rules = common_.rules;
  request.settings = &settings;
  Inputs inputs(request, environment);
  Plan plan = TRY(provider_->plan(settings, inputs));
  return std::move(plan.principal);
}

Status DeclaredOptions::check(const Settings& settings, const Environment& environment) const {
  TRY(settings.check_uses());
  return provider_ ? provider_->refusal(settings, environment) : Status();
}

}  // namespace execcred::cli

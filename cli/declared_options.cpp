// SPDX-License-Identifier: Apache-2.0
#include "declared_options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/profile_choice.hpp>
#include <execcred/exec/template.hpp>
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

// Fails (configuration) if the ClusterProfile's clusterName does not fit into a template in which
// it stands.
Status check_cluster_name(const OptionSet& set, const Settings& settings, const ExecInfo& info) {
  const Setting& name = settings.get("cluster");
  if (!name.is_from_profile()) return {};
  for (const Option& option : set.all()) {
    if (!option.is_template || !settings.is_used(option)) continue;
    const std::vector<std::string>& texts = settings.get(option.name).texts;
    const std::string text = texts.empty() ? settings.default_of(option) : texts.front();
    if (text.find("{clusterName}") == std::string::npos) continue;
    const std::string expanded = TRY(expand_template(text, name.texts.front(), info));
    if (option.form != nullptr) TRY(option.form->check(expanded));
  }
  return {};
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
  TRY(check_cluster_name(set_, settings, info));
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

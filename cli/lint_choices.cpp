// SPDX-License-Identifier: Apache-2.0
#include "lint_choices.hpp"

#include "lint_inputs.hpp"
#include "lint_options.hpp"
#include "lint_providers.hpp"

#include <execcred/base/text.hpp>
#include <google/endpoints.hpp>

#include <algorithm>
#include <optional>

namespace execcred::lint {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kTenant = "tenantId";
constexpr std::string_view kProvider = "workloadIdentityProvider";

struct Refusal {
  Severity severity = Severity::error;
  std::string message = {};
  std::string hint = {};
};
using MaybeRefusal = std::optional<Refusal>;

Refusal malformed(const Error& error) {
  return {.message = "is refused by the plugin: " + error.message, .hint = error.hint};
}

bool has_same(const Texts& texts, const std::string& text) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& one) { return ascii_lower(one) == ascii_lower(text); });
}

MaybeRefusal refusal_of_tenant(const std::string& tenant, const ExecConfig& exec,
                               const PluginOptions& options) {
  if (has_same(values_of(exec, options, "identity"), "managed")) return std::nullopt;
  const Result<std::string> parsed = azure::parse_tenant(tenant);
  if (!parsed) return malformed(parsed.error());
  const Texts own = values_of(exec, options, "tenant-id");
  if (has_same(own, tenant) || has_same(values_of(exec, options, "allow-tenant"), tenant)) {
    return std::nullopt;
  }
  Refusal refusal = {.hint = "add --allow-tenant=" + tenant + " there, if that tenant is meant"};
  if (own.empty()) {
    refusal.severity = Severity::warning;
    refusal.message = "is refused unless AZURE_TENANT_ID is the same: no --allow-tenant names it";
  } else {
    refusal.message = "is another tenant than the mapping's, and no --allow-tenant names it";
  }
  return refusal;
}

MaybeRefusal refusal_of_provider(const std::string& provider, const ExecConfig& exec,
                                 const PluginOptions& options) {
  // Then the field has no effect.
  if (is_given(exec, options, google::kProviderOption)) return std::nullopt;
  const Status is_name = google::check_provider_name(provider);
  if (!is_name) return malformed(is_name.error());
  const std::string audience = google::audience_of_provider(provider, google::kDefaultUniverse);
  const Texts patterns = values_of(exec, options, "allow-audience");
  for (const std::string& text : patterns) {
    const Result<AudiencePattern> pattern = AudiencePattern::parse(text);
    // One that cannot be read is told where it stands.
    if (!pattern || pattern->matches(audience, {})) return std::nullopt;
  }
  Refusal refusal = {.message = "matches no --allow-audience of the mapping",
                     .hint = "add --allow-audience='" + audience + "' there, if it is meant"};
  if (patterns.empty()) {
    refusal.severity = Severity::warning;
    refusal.message = "is refused: the mapping has no --allow-audience for it";
  }
  return refusal;
}

MaybeRefusal refusal_by(const ExecConfig& exec, std::string_view field, const std::string& text) {
  const std::string_view program = program_name(exec.command);
  const PluginOptions options(program);
  if (program == cli::kAzure && field == kTenant) {
    return refusal_of_tenant(text, exec, options);
  }
  if (program == cli::kGoogle && field == kProvider) {
    return refusal_of_provider(text, exec, options);
  }
  return std::nullopt;
}

void check_choice(Run& run, const ProfileInput& input, std::string_view field) {
  const json::Value* const value = input.config.find(field);
  if (value == nullptr || value->string() == nullptr || value->string()->empty()) return;
  const std::string& text = *value->string();
  const std::vector<const MappedPlugin*> plugins = plugins_for(run, input.group, input.provider);
  MaybeRefusal refusal;
  for (const MappedPlugin* const plugin : plugins) {
    refusal = refusal_by(exec_for(*plugin, input), field, text);
    if (!refusal) break;
  }
  if (!refusal) return;
  Scope(run, input.file, input.group)
      .add(refusal->severity, join_path(input.config_path, field),
           "is " + in_quotes(text) + ", which " + refusal->message,
           "the provider " + in_quotes(input.provider) + " is in " + plugins.back()->place + ": " +
               refusal->hint);
}

}  // namespace

void note_plugin(const Scope& scope, const std::string& provider, const std::string& path,
                 const ExecConfig& exec, bool appends) {
  scope.run().mapped[{scope.group(), provider}].push_back({.file = scope.file(),
                                                           .place = scope.inside(path).place(),
                                                           .exec = exec,
                                                           .appends = appends});
}

void check_choices(Run& run) {
  check_providers_are_mapped(run);
  check_inputs(run);
  for (const ProfileInput& input : run.inputs) {
    for (const std::string_view field : {kTenant, kProvider}) check_choice(run, input, field);
  }
}

}  // namespace execcred::lint

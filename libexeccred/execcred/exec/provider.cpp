// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/provider.hpp>

#include <execcred/base/assert.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/template.hpp>
#include <execcred/os/deadline.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

// Whether a ClusterProfile names the token's audience, which must be its server.
bool is_audience_server(const Settings& settings) {
  const Option* const audience = settings.options().find("audience");
  if (audience == nullptr || audience->profile == Option::Profile::never) return false;
  const std::vector<std::string>& allowed = settings.given("allow-audience");
  return !settings.is_given("audience") && !allowed.empty() &&
         std::all_of(allowed.begin(), allowed.end(),
                     [](const std::string& pattern) { return pattern == "server"; });
}

// What names the server, as it is typed; empty if nothing does.
std::string server_is_named_by(const Settings& settings) {
  for (const Option& option : settings.options().all()) {
    const std::vector<std::string>& values = settings.given(option.name);
    if (std::any_of(values.begin(), values.end(),
                    [&option](const std::string& value) { return names_server(option, value); })) {
      return std::string(kServerHost) + " in " + settings.where_from(option.name);
    }
  }
  return {};
}

}  // namespace

DebugLog::DebugLog(std::string program, bool is_enabled)
    : program_(std::move(program)), is_enabled_(is_enabled) {}

void DebugLog::operator()(std::string_view step) const {
  if (!is_enabled_) return;
  const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(
                           std::chrono::steady_clock::now() - start_)
                           .count();
  std::string fraction = std::to_string(elapsed % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  deadline::write_to_stderr(program_ + ": debug: " + std::to_string(elapsed / 1000) + "." +
                            fraction + " ms: " + printable(step) + "\n");
}

Result<std::string> CredentialRequest::expand(std::string_view option,
                                              std::string_view text) const {
  Result<std::string> expanded = expand_template(text, cluster_name, info);
  if (expanded) return expanded;
  return std::move(expanded).context("expanding " + as_typed(option) + " " + in_quotes(text));
}

std::string CredentialRequest::as_typed(std::string_view option) const {
  return settings == nullptr ? std::string(option) : settings->as_typed(option);
}

std::string CredentialRequest::reading(std::string_view option,
                                       const std::filesystem::path& path) const {
  return "reading " + as_typed(option) + " " + in_quotes(path.native());
}

Result<Credential> PlanCache::get_kept(const CacheOptions& options, const CacheKey& key,
                                       const CredentialCache::Ask& ask, const CallContext& run) {
  return CredentialCache(options, run).get(key, ask);
}

std::vector<Finding> refusals(Status checked) {
  if (checked) return {};
  return {{.severity = Finding::Severity::refusal, .error = std::move(checked).error()}};
}

Status Provider::refusal(const Settings& settings, const Environment& environment) const {
  for (Finding& finding : check(settings, environment)) {
    if (finding.severity == Finding::Severity::refusal) return std::move(finding.error);
  }
  return {};
}

Binding Provider::binding(const Settings& settings) const {
  using Kind = Binding::Kind;
  Binding binding = bind(settings);
  if (binding.kind == Kind::stored_server) return binding;
  std::string named_by = server_is_named_by(settings);
  if (named_by.empty() && binding.kind == Kind::any_server && is_audience_server(settings)) {
    named_by = settings.where_from("allow-audience") + "=server";
  }
  if (named_by.empty()) return binding;
  binding.kind = Kind::named_server;
  binding.text = std::move(named_by);
  binding.warns_in_show_config = false;
  return binding;
}

namespace {

// Asks as the plan does. The error shows nothing that the call sent, wherever it was made: a server
// may have repeated it.
Result<Issued> ask(const Plan& plan, CallContext& call) {
  return call.outcome->secrets.redacted(plan.ask(call));
}

Result<Credential> obtain(const Plan& plan, const Inputs& inputs, const CallContext& run) {
  if (plan.cache) {
    const std::string key = inputs.key().text();
    Result<Credential> credential = plan.cache->get(
        cache_of_run(plan.cache->options, inputs.request()), inputs.key(),
        [&plan](CallContext& call) { return ask(plan, call); }, run);
    // Asking the provider has read no input that is not in the key of the entry.
    EXECCRED_ASSERT(inputs.key().text() == key);
    return credential;
  }
  CallContext call = run;
  Issued issued = TRY(ask(plan, call));
  if (run.notes != nullptr && !issued.identity.empty()) run.notes->identity = issued.identity;
  return std::move(issued.credential);
}

}  // namespace

Result<Credential> Provider::get_credential(const CredentialRequest& request,
                                            const CallContext& run) const {
  Inputs inputs(request, run.environment);
  const Plan made = TRY(plan(*request.settings, inputs));
  Credential credential = TRY(obtain(made, inputs, run));
  return made.finish ? made.finish(std::move(credential), run) : std::move(credential);
}

}  // namespace execcred

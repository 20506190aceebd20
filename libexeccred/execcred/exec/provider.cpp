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

namespace execcred {
namespace {

// Whether a ClusterProfile names the token's audience, which must be its server.
bool is_audience_server(const OptionSet& options, const GivenOptions& given) {
  const Option* const audience = options.find("audience");
  if (audience == nullptr || audience->profile == Option::Profile::never) return false;
  const std::vector<std::string> allowed = given.values("allow-audience");
  return !given.has("audience") && !allowed.empty() &&
         std::all_of(allowed.begin(), allowed.end(),
                     [](const std::string& pattern) { return pattern == "server"; });
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
  constexpr std::string_view kDashes = "--";
  const std::string_view name = option.substr(option.starts_with(kDashes) ? kDashes.size() : 0);
  const bool is_set = settings != nullptr && settings->get(name).origin != Setting::Origin::unset;
  return is_set ? settings->where_from(name) : std::string(option);
}

Binding Provider::binding(const OptionSet& options, const GivenOptions& given) const {
  using Kind = Binding::Kind;
  Binding own = own_binding(given);
  if (own.kind == Kind::stored_server) return own;
  for (const Option& option : options.all()) {
    if (!option.is_template) continue;
    const std::vector<std::string> values = given.values(option.name);
    if (std::any_of(values.begin(), values.end(), names_server)) {
      return {.kind = Kind::named_server,
              .text = std::string(kServerHost) + " in " + given.as_typed(option.name)};
    }
  }
  if (own.kind != Kind::any_server || !is_audience_server(options, given)) return own;
  return {.kind = Kind::named_server, .text = given.as_typed("allow-audience") + "=server"};
}

namespace {

Result<Credential> obtain(const Plan& plan, const CacheKey& key, const CredentialRequest& request,
                          const CallContext& run) {
  if (plan.cache) {
    return CredentialCache(cache_of_run(*plan.cache, request), run).get(key, plan.ask);
  }
  CallContext call = run;
  Issued issued = TRY(plan.ask(call));
  if (run.notes != nullptr && !issued.identity.empty()) run.notes->identity = issued.identity;
  return std::move(issued.credential);
}

}  // namespace

Result<Credential> Provider::get_credential(const CredentialRequest& request,
                                            const CallContext& run) const {
  Inputs inputs(request, run.environment);
  const Plan made = TRY(plan(*request.settings, inputs));
  const std::string key = inputs.key().text();
  Credential credential = TRY(obtain(made, inputs.key(), request, run));
  // Asking the provider has read no input that is not in the key of the entry.
  EXECCRED_ASSERT(inputs.key().text() == key);
  return made.finish ? made.finish(std::move(credential), run) : std::move(credential);
}

}  // namespace execcred

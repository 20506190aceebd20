// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/provider.hpp>

#include <execcred/base/assert.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/template.hpp>

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

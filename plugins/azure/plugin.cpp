// SPDX-License-Identifier: Apache-2.0
// execcred-azure: gives the client a token of Microsoft Entra ID for AKS, with the workload
// identity of a Pod or the managed identity of a machine.
//
// Entra's token is kept in the credential cache. It is valid at every cluster that trusts the
// tenant, so a mapping should name the servers that may get it: --allow-server.
#include "identity.hpp"
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>

#include <algorithm>
#include <memory>

namespace execcred::azure {

namespace {

bool has_same(const std::vector<std::string>& texts, std::string_view text) {
  return std::any_of(texts.begin(), texts.end(), [text](const std::string& one) {
    return ascii_lower(one) == ascii_lower(text);
  });
}

}  // namespace

class Azure final : public Provider {
 public:
  void add_options(OptionSet& set) override { azure::add_options(set, options_); }

  std::vector<std::string_view> judged_fields() const override { return {"tenantId"}; }

  std::optional<Advice> judge_field(std::string_view /*field*/, const std::string& value,
                                    const GivenOptions& given) const override {
    if (has_same(given.values("identity"), "managed")) return std::nullopt;
    const Result<std::string> parsed = parse_tenant(value);
    if (!parsed) return refused_field(parsed.error());
    const std::vector<std::string> own = given.values("tenant-id");
    if (has_same(own, value) || has_same(given.values("allow-tenant"), value)) return std::nullopt;
    Advice advice = {
        .severity = Advice::Severity::error,
        .message = "is another tenant than the mapping's, and no --allow-tenant names it",
        .hint = "add --allow-tenant=" + value + " there, if that tenant is meant"};
    if (own.empty()) {
      advice.severity = Advice::Severity::warning;
      advice.message = "is refused unless AZURE_TENANT_ID is the same: no --allow-tenant names it";
    }
    return advice;
  }

  Result<Plan> plan(const Settings& settings, Inputs& inputs) const override {
    const std::shared_ptr<const Identity> identity = TRY(open_identity(options_, settings, inputs));
    return Plan{.ask = [identity](CallContext& call) { return identity->ask(call); },
                .cache = options_.cache};
  }

 private:
  Options options_;
};

PluginDefinition plugin() {
  return {
      .info = {.name = "execcred-azure",
               .summary =
                   "Gives the client a token of Microsoft Entra ID, for AKS and what trusts it.",
               .examples = {{{"Print a token of the Pod's workload identity",
                              "execcred-azure --identity=workload"},
                             {"Print a token of the machine's managed identity",
                              "execcred-azure --identity=managed"}}}},
      .make = [] { return std::unique_ptr<Provider>(std::make_unique<Azure>()); }};
}

}  // namespace execcred::azure

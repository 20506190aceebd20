// SPDX-License-Identifier: Apache-2.0
// execcred-azure: gives the client a token of Microsoft Entra ID for AKS, with the workload
// identity of a Pod or the managed identity of a machine.
//
// Entra's token is kept in the credential cache. It is valid at every cluster that trusts the
// tenant, so a mapping should name the servers that may get it: --allow-server.
#include "managed_identity.hpp"
#include "options.hpp"
#include "workload_identity.hpp"

#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>

#include <memory>

namespace execcred::azure {
namespace {

Result<IdentityKind> chosen_kind(const Options& options) {
  if (options.identity) return *options.identity;
  if (!options.federated_token_file.empty()) return IdentityKind::workload;
  return Error::configuration(
      "no identity is chosen, and " + std::string(kTokenFileVariable) + " is not set",
      "for workload identity, let the Pod have the label azure.workload.identity/use: \"true\", or "
      "pass --federated-token-file, --client-id and --tenant-id; for a managed identity, pass "
      "--identity=managed");
}

}  // namespace

class Azure final : public Provider {
 public:
  void add_options(OptionSet& set) override { azure::add_options(set, options_); }

  Result<Plan> plan(const Settings& settings, Inputs& inputs) const override {
    const IdentityKind kind = TRY(chosen_kind(options_));
    return Plan{.ask = TRY(kind == IdentityKind::managed
                               ? open_managed_identity(options_, inputs)
                               : open_workload_identity(options_, settings, inputs)),
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

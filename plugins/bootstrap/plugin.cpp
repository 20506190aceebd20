// SPDX-License-Identifier: Apache-2.0
// execcred-bootstrap: uses another plugin's credential only to get a short-lived one that the
// cluster issues: a service account's token, or a client certificate.
//
// The bootstrap credential is sent to spec.cluster.server, so the mapping must name the servers
// that may get it. The issued credential is kept in the credential cache: the other plugin runs
// only if the cache has none.
#include "cluster.hpp"
#include "inner_inputs.hpp"
#include "inner_plugin.hpp"
#include "options.hpp"
#include "signing_run.hpp"
#include "token_request.hpp"

#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>

#include <memory>
#include <utility>

namespace execcred::bootstrap {

class Bootstrap final : public Provider {
 public:
  void add_options(OptionSet& set) override { bootstrap::add_options(set, options_); }

  std::vector<Finding> check(const Settings& settings,
                             const Environment& /*environment*/) const override {
    return refusals(check_options(options_, settings));
  }

  Result<Plan> plan(const Settings& /*settings*/, Inputs& inputs) const override {
    plan_inner_plugin(options_.credential, inputs);
    if (options_.via == Via::token_request) {
      return Plan{.ask = [this, &request = inputs.request()](
                             CallContext& call) { return ask_for_token(request, call); },
                  .cache = options_.cache};
    }
    // A signing request outlives a run, so it uses the cache by itself.
    return Plan{.ask = [this, &inputs](CallContext& call) -> Result<Issued> {
      Credential credential = TRY(SigningRun(options_, inputs.request(), inputs.key(), call).get());
      return Issued{.credential = std::move(credential)};
    }};
  }

 private:
  Result<Issued> ask_for_token(const CredentialRequest& request, CallContext& call) const {
    const Credential bootstrap = TRY(run_inner_plugin(options_.credential, request, call));
    HubClient cluster = TRY(open_cluster(request, bootstrap, options_.credential.program, call));
    return request_token(options_, cluster, call);
  }

  // The cluster itself issues the credential.
  Binding bind(const Settings& /*settings*/) const override {
    return {.kind = Binding::Kind::one_server,
            .needs_cluster = {"--via"},
            .check_cluster = check_can_be_asked};
  }

  Options options_;
};

PluginDefinition plugin() {
  return {
      .info =
          {.name = "execcred-bootstrap",
           .summary = "Gives the client a short-lived credential that the cluster itself issues, "
                      "got with another plugin's.",
           .examples =
               {{{"Request a client certificate, with EXECCRED_CREDENTIAL and "
                  "EXECCRED_ALLOW_SERVER set",
                  "execcred-bootstrap --via=csr --user=fleet"},
                 {"Request a token of a service account in the same way",
                  "execcred-bootstrap --via=token-request --service-account=fleet/controller"}}}},
      .make = [] { return std::unique_ptr<Provider>(std::make_unique<Bootstrap>()); }};
}

}  // namespace execcred::bootstrap

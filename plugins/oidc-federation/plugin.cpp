// SPDX-License-Identifier: Apache-2.0
// execcred-oidc-federation: exchanges an identity of its environment (a projected token, a CI
// job's, a client's key) for a token for a cluster, by the standard flows of OAuth 2.0 that need no
// person. Interactive logins are out of scope: controllers have no terminal.
//
// The server's token is kept in the credential cache, so that a fleet of processes costs the server
// one call. Only the mapping decides where the identity is sent, never a ClusterProfile.
#include "flow.hpp"
#include "options.hpp"
#include "pinniped.hpp"
#include "subject.hpp"

#include <execcred/base/try.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace execcred::oidc_federation {

class OidcFederation final : public Provider {
 public:
  void add_options(OptionSet& set) override { oidc_federation::add_options(set, options_); }

  std::vector<Finding> check(const Settings& settings,
                             const Environment& /*environment*/) const override {
    std::vector<Finding> findings = refusals(check_options(options_, settings));
    if (!asks_the_cluster() || settings.is_given("allow-server")) return findings;
    findings.push_back(
        {.severity = Finding::Severity::error,
         .error = {.message = "lacks --allow-server, without which --flow=pinniped would send the "
                              "subject token to whichever server is named",
                   .hint = "add --allow-server=https://HOST[:PORT] for the clusters that may have "
                           "it, or --concierge-endpoint=URL"}});
    return findings;
  }

  Result<Plan> plan(const Settings& /*settings*/, Inputs& inputs) const override {
    TRY(check_run(inputs.request()));
    Subject subject = TRY(Subject::open(options_, inputs));
    if (asks_the_cluster()) inputs.cluster();  // its Concierge's credential is of one cluster
    ClientFiles files = TRY(ClientFiles::read(options_, inputs));
    Plan plan = {.cache = options_.cache};
    // Reading the token again costs less than the cache.
    if (options_.flow == Flow::pass_through && subject.is_local()) {
      plan.cache->options.no_cache = true;
    }
    const auto flow =
        std::make_shared<FlowRun>(options_, inputs.request(), std::move(subject), std::move(files));
    plan.ask = [flow](CallContext& call) { return flow->obtain(call); };
    return plan;
  }

 private:
  // What the client's document must have.
  Status check_run(const CredentialRequest& request) const {
    if (options_.flow == Flow::pinniped) {
      TRY(check_concierge_destination(options_.concierge, request));
    }
    Status known = check_client_id(options_, *request.settings);
    if (known || request.info.cluster) return known;
    known.error().hint = "pass it";
    return lacks_cluster_info(std::move(known).error());
  }

  // Whether the cluster's own Concierge is asked, at the server that a ClusterProfile names.
  bool asks_the_cluster() const {
    return options_.flow == Flow::pinniped && options_.concierge.endpoint.empty();
  }

  Binding bind(const Settings& settings) const override {
    Binding binding = Provider::bind(settings);
    if (options_.flow == Flow::pinniped) binding.text = "that is one credential for all of them";
    if (options_.flow == Flow::pass_through) binding.text = "that is the subject token itself";
    if (asks_the_cluster()) {
      binding = {.kind = Binding::Kind::one_server, .needs_cluster = {"--flow=pinniped"}};
    }
    const std::vector<std::string>& audiences = settings.given("allow-audience");
    if (std::find(audiences.begin(), audiences.end(), "server") != audiences.end()) {
      binding.needs_cluster.emplace_back("--allow-audience=server");
    }
    return binding;
  }

  Options options_;
};

PluginDefinition plugin() {
  return {
      .info = {.name = "execcred-oidc-federation",
               .summary =
                   "Gives the client a token of an OAuth 2.0 server, by flows that need no person.",
               .examples = {{{"Exchange the token in a file for a token of an issuer",
                              "execcred-oidc-federation --flow=token-exchange "
                              "--issuer-url=\"$ISSUER\" --subject-token-file=token"},
                             {"Print the token in a file, if it is for this audience",
                              "execcred-oidc-federation --flow=pass-through "
                              "--subject-token-file=token --audience=kubernetes"}}}},
      .make = [] { return std::unique_ptr<Provider>(std::make_unique<OidcFederation>()); }};
}

}  // namespace execcred::oidc_federation

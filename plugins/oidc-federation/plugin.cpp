// SPDX-License-Identifier: Apache-2.0
// execcred-oidc-federation: exchanges an identity of its environment (a projected token, a CI
// job's, a client's key) for a token for a cluster, by the standard flows of OAuth 2.0 that need no
// person. Interactive logins are out of scope: controllers have no terminal.
//
// The server's token is kept in the credential cache, so that a fleet of processes costs the server
// one call. Only the mapping decides where the identity is sent, never a ClusterProfile.
#include "plugin.hpp"

#include "credential_key.hpp"
#include "flow.hpp"
#include "options.hpp"
#include "pinniped.hpp"
#include "subject.hpp"

#include <execcred/base/try.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/exec/cluster_info.hpp>

namespace execcred::oidc_federation {

namespace {

// Whether the cluster's own Concierge is asked, at the server that a ClusterProfile names.
bool asks_the_cluster(const GivenOptions& given) {
  return given.value("flow") == "pinniped" && !given.has("concierge-endpoint");
}

}  // namespace

class OidcFederation final : public Provider {
 public:
  void add_options(OptionSet& set) override { oidc_federation::add_options(set, options_); }

  Status change_options(OptionSet& set, const Settings& /*settings*/) override {
    if (!options_.has_server()) {
      set.change("client-id").unused_from_profile("only a flow with a token server uses it");
    }
    if (options_.flow == Flow::pinniped) {
      set.change("audience").unused_from_profile("--flow=pinniped does not use it");
    }
    // The variable may be set for other programs, so it is not checked if it is not used.
    if (options_.subject_source() != SubjectSource::spiffe) set.change("socket").no_variables();
    return {};
  }

  Status check(const Settings& settings) const override {
    return check_options(options_, settings);
  }

  std::vector<Advice> advise(const GivenOptions& given) const override {
    if (!asks_the_cluster(given) || given.has("allow-server")) return {};
    return {{.severity = Advice::Severity::error,
             .message = "lacks --allow-server, without which --flow=pinniped would send the "
                        "subject token to whichever server is named",
             .hint = "add --allow-server=https://HOST[:PORT] for the clusters that may have it, or "
                     "--concierge-endpoint=URL"}};
  }

  std::vector<std::string> needs_of_cluster(const GivenOptions& given) const override {
    std::vector<std::string> needs;
    if (asks_the_cluster(given)) needs.emplace_back("--flow=pinniped");
    const std::vector<std::string> audiences = given.values("allow-audience");
    if (std::find(audiences.begin(), audiences.end(), "server") != audiences.end()) {
      needs.emplace_back("--allow-audience=server");
    }
    return needs;
  }

  // With pass-through, an audience is only checked, and not requested.
  bool mints_tokens() const override { return options_.flow != Flow::pass_through; }

  Result<Credential> get_credential(const CredentialRequest& request,
                                    const CallContext& run) override {
    if (options_.flow == Flow::pinniped) {
      TRY(check_concierge_destination(options_.concierge, request));
    }
    if (Status known = check_client_id(options_); !known) {
      if (request.info.cluster) return std::move(known).error();
      known.error().hint = "pass it";
      return lacks_cluster_info(std::move(known).error());
    }
    CacheKey key = TRY(credential_key(options_, request.info));
    const Subject subject = TRY(Subject::open(options_, run, key));
    CacheOptions cache = cache_of_run(options_.cache, request);
    // Reading the token again costs less than the cache.
    if (options_.flow == Flow::pass_through && subject.is_local()) cache.no_cache = true;
    const FlowRun flow(options_, request, subject, cache);
    const auto ask = [&flow](CallContext& call) { return flow.obtain(call); };
    return CredentialCache(cache, run).get(key, ask);
  }

 private:
  Binding own_binding(const GivenOptions& given) const override {
    if (asks_the_cluster(given)) return {.kind = Binding::Kind::one_server};
    if (given.value("flow") == "pinniped")
      return {.text = "that is one credential for all of them"};
    if (given.value("flow") == "pass-through") return {.text = "that is the subject token itself"};
    return Provider::own_binding(given);
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

// SPDX-License-Identifier: Apache-2.0
// execcred-oidc-federation: turns an identity that is at hand where it runs (a projected token, a
// CI job's, a client's key) into a token for a cluster, by the standard flows of OAuth 2.0 that
// need no person. Interactive logins are out of scope: controllers have no terminal.
//
// What the server gives is kept in the credential cache, so that a fleet of processes costs the
// server one call. Where the identity goes is the mapping's to say, never a ClusterProfile's.
#include "credential_key.hpp"
#include "flow.hpp"
#include "options.hpp"
#include "pinniped.hpp"
#include "subject.hpp"

#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/options.hpp>
#include <execcred/exec/plugin_main.hpp>

namespace execcred::oidc_federation {

class OidcFederation final : public Provider {
 public:
  void add_options(OptionSet& set) override { oidc_federation::add_options(set, options_); }

  Status change_options(OptionSet& set, const Settings& settings) override {
    if (options_.flow == Flow::pinniped) {
      set.change("audience").unused_from_profile("--flow=pinniped does not use it");
    }
    // It may be there for others, and is not judged where it has no use.
    if (options_.subject.named != SubjectSource::spiffe) set.change("socket").no_variables();
    return check_options(options_, settings);
  }

  // There an audience is only looked at, not asked for.
  bool mints_tokens() const override { return options_.flow != Flow::pass_through; }

  Result<Credential> get_credential(const CredentialRequest& request,
                                    const Services& services) override {
    if (options_.flow == Flow::pinniped) {
      TRY(check_concierge_destination(options_.concierge, request));
    }
    TRY_ASSIGN(CacheKey key, credential_key(options_, request.info));
    TRY_ASSIGN(const Subject subject, Subject::open(options_, services, key));
    CacheOptions cache = cache_of_run(options_.cache, request, services);
    // Reading the token again costs less than the cache.
    if (options_.flow == Flow::pass_through && subject.is_local()) cache.no_cache = true;
    const FlowRun run(options_, request, services, subject, cache);
    const auto ask = [&run](ProviderCall& call) { return run.obtain(call); };
    return CredentialCache(cache, services.environment, services.clock).get(key, ask);
  }

 private:
  Options options_;
};

}  // namespace execcred::oidc_federation

int main(int argc, char** argv) {
  execcred::oidc_federation::OidcFederation provider;
  return execcred::plugin_main(
      {.name = "execcred-oidc-federation",
       .summary = "Gives the client a token of an OAuth 2.0 server, by flows that need no person."},
      provider, argc, argv);
}

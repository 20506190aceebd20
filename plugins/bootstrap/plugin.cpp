// SPDX-License-Identifier: Apache-2.0
// execcred-bootstrap: uses the credential that another plugin gives for one thing, to get a
// short-lived one of the cluster's own: a service account's token, or a client certificate.
//
// The bootstrap credential is sent to spec.cluster.server, so the mapping must name the servers
// that may have it. What the cluster issues is kept in the credential cache: the other plugin runs
// only where there is nothing in it.
#include "plugin.hpp"

#include "cache_key.hpp"
#include "cluster.hpp"
#include "inner_plugin.hpp"
#include "options.hpp"
#include "pending_request.hpp"
#include "signing_request.hpp"
#include "token_request.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/options.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace execcred::bootstrap {

class Bootstrap final : public Provider {
 public:
  void add_options(OptionSet& set) override { bootstrap::add_options(set, options_); }

  Status check(const Settings& settings) const override {
    return check_options(options_, settings);
  }

  Status check_request(const CredentialRequest& request) const override {
    return check_can_be_asked(request);
  }

  // What the cluster issues is good at that cluster alone.
  std::string_view reach(const GivenOptions& /*given*/) const override { return {}; }

  std::vector<std::string> needs_of_cluster(const GivenOptions& /*given*/) const override {
    return {"--via"};
  }

  Result<Credential> get_credential(const CredentialRequest& request,
                                    const CallContext& run) override {
    const CacheKey key = credential_key(options_, request, run.environment);
    return options_.via == Via::csr ? get_certificate(request, key, run)
                                    : get_token(request, key, run);
  }

 private:
  Result<Credential> get_token(const CredentialRequest& request, const CacheKey& key,
                               const CallContext& run) const {
    const auto ask = [&](CallContext& call) -> Result<FreshCredential> {
      const Credential bootstrap = TRY(run_inner_plugin(options_.credential, request, call));
      HubClient cluster = TRY(open_cluster(request, bootstrap, call));
      Result<FreshCredential> fresh = request_token(options_, cluster, call);
      call.retry_after = cluster.retry_after();
      return fresh;
    };
    return CredentialCache(cache_of_run(options_.cache, request), run).get(key, ask);
  }

  // A run waits to its end, where the cache gives each call a part of that: so it calls again.
  Result<Credential> get_certificate(const CredentialRequest& request, const CacheKey& key,
                                     const CallContext& run) const {
    constexpr Duration kShortestCall = std::chrono::milliseconds(100);
    const TimePoint began = run.clock.now();
    CallContext own = run;
    own.deadline -= time_to_report(run);
    std::optional<PendingRequestStore> store;
    std::optional<CertificateSigning> signing;
    std::optional<Credential> bootstrap;
    bool is_waiting = false;
    const auto ask = [&](CallContext& call) -> Result<FreshCredential> {
      if (!bootstrap) bootstrap = TRY(run_inner_plugin(options_.credential, request, call));
      if (!signing) {
        store.emplace(open_cache(options_.cache, run), key, run.clock);
        signing.emplace(options_, *store, began);
      }
      HubClient cluster = TRY(open_cluster(request, *bootstrap, call));
      Result<FreshCredential> fresh = signing->obtain(cluster, call);
      is_waiting = signing->is_waiting();
      call.retry_after = cluster.retry_after();
      return fresh;
    };
    for (;;) {
      is_waiting = false;
      Result<Credential> credential =
          CredentialCache(cache_of_run(options_.cache, request), own).get(key, ask);
      if (credential && signing) signing->finish();
      const bool goes_on = !credential && is_waiting &&
                           own.deadline - std::chrono::steady_clock::now() > kShortestCall;
      if (!goes_on) return credential;
    }
  }

  // The timer that ends the run knows no request's name.
  static Duration time_to_report(const CallContext& run) {
    const Duration left = run.deadline - std::chrono::steady_clock::now();
    return std::min<Duration>(left / 10, std::chrono::milliseconds(500));
  }

  Result<HubClient> open_cluster(const CredentialRequest& request, const Credential& bootstrap,
                                 const CallContext& call) const {
    Hub hub = TRY(cluster_of(request, bootstrap, in_quotes(options_.credential.program)));
    hub.http.deadline = call.deadline;
    return HubClient(std::move(hub), call);
  }

  Options options_;
};

PluginDefinition plugin() {
  return {.info = {.name = "execcred-bootstrap",
                   .summary =
                       "Gives the client a short-lived credential that the cluster itself issues, "
                       "got with another plugin's."},
          .make = [] { return std::unique_ptr<Provider>(std::make_unique<Bootstrap>()); }};
}

}  // namespace execcred::bootstrap

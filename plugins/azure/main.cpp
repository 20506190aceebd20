// SPDX-License-Identifier: Apache-2.0
// execcred-azure: gives the client a token of Microsoft Entra ID for AKS, got with the workload
// identity of a Pod or the managed identity of a machine.
//
// Entra's token is kept in the credential cache. It is good at every cluster that trusts the
// tenant, so a mapping should name the servers that may have it: --allow-server.
#include "identity.hpp"
#include "options.hpp"

#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/options.hpp>
#include <execcred/exec/plugin_main.hpp>

#include <memory>

namespace execcred::azure {

class Azure final : public Provider {
 public:
  void add_options(OptionSet& set) override { azure::add_options(set, options_); }

  Status change_options(OptionSet& set, const Settings& settings) override {
    settings_ = &settings;
    leave_unused_variables(set, options_);
    return check_options(options_, settings);
  }

  Result<Credential> get_credential(const CredentialRequest& request,
                                    const Services& services) override {
    options_.is_tenant_of_profile = settings_->get("tenant-id").is_from_profile();
    TRY_ASSIGN(const std::unique_ptr<Identity> identity,
               open_identity(options_, request, services));
    CacheKey key;
    key.add("plugin", "azure").add("server-id", options_.server_id);
    identity->identify(key);
    const auto ask = [&identity](ProviderCall& call) { return identity->ask(call); };
    return CredentialCache(cache_of_run(options_.cache, request, services), services.environment,
                           services.clock)
        .get(key, ask);
  }

 private:
  Options options_;
  const Settings* settings_ = nullptr;
};

}  // namespace execcred::azure

int main(int argc, char** argv) {
  execcred::azure::Azure provider;
  return execcred::plugin_main(
      {.name = "execcred-azure",
       .summary = "Gives the client a token of Microsoft Entra ID, for AKS and what trusts it."},
      provider, argc, argv);
}

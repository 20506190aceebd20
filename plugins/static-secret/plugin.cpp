// SPDX-License-Identifier: Apache-2.0
// execcred-static-secret: gives the client a credential that is stored in a Secret of the hub, or
// in files, in the format of its project.
//
// The writer of a ClusterProfile chooses the cluster, and often the Secret; the mapping's arguments
// limit the choices, and the stored credential is checked against the server.
#include "advice.hpp"
#include "binding.hpp"
#include "file_source.hpp"
#include "hub_source.hpp"
#include "plan.hpp"
#include "stored_credential.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/os/deadline.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace execcred::static_secret {

class StaticSecret final : public Provider {
 public:
  void add_options(OptionSet& set) override { static_secret::add_options(set, options_); }

  std::vector<Finding> check(const Settings& settings,
                             const Environment& /*environment*/) const override {
    std::vector<Finding> findings = refusals(check_options(options_, settings));
    advise(options_, findings);
    return findings;
  }

  // Nothing is kept, so all is read when it is asked for.
  Result<execcred::Plan> plan(const Settings& /*settings*/, Inputs& inputs) const override {
    return execcred::Plan{.ask = [this, &request = inputs.request()](CallContext& call) {
      return stored_credential(request, call);
    }};
  }

 private:
  Binding bind(const Settings& settings) const override {
    return binding_of_stored(options_, settings);
  }

  Result<Issued> stored_credential(const CredentialRequest& request,
                                   const CallContext& call) const {
    Result<StoredCredential> found = read(request, call);
    if (!found && !options_.is_from_hub()) found.error().is_local = true;
    StoredCredential stored = TRY(std::move(found));
    TRY(check_servers(stored, options_, request));
    TRY(check_verified(stored, options_, request));
    return Issued{.credential = std::move(stored.credential)};
  }

  Result<StoredCredential> read(const CredentialRequest& request, const CallContext& run) const {
    if (options_.is_from_hub()) return read_from_hub(request, run);
    const Plan plan = TRY(make_plan(options_, request, "", true));
    StoredCredential stored = TRY(read_from_files(plan, options_, run));
    if (options_.allow_hub_token || stored.credential.token.empty()) return stored;
    const std::optional<Hub> hub = TRY(hub_beside_files(run.environment));
    const std::vector<HubIdentity> own = own_identities(hub ? &*hub : nullptr, run.environment);
    TRY(check_hub_token(stored, own, options_, request));
    return stored;
  }

  // Nothing is read from a hub, but a file may contain a token of the kubeconfig's. A kubeconfig
  // that was not passed as a flag need not be usable.
  Result<std::optional<Hub>> hub_beside_files(const Environment& environment) const {
    if (options_.kubeconfig.empty()) return std::optional<Hub>();
    Result<Hub> hub = find_hub(options_.kubeconfig, environment);
    if (hub) return std::optional<Hub>(std::move(hub).value());
    if (environment.get("KUBECONFIG") == options_.kubeconfig) return std::optional<Hub>();
    return std::move(hub).error();
  }

  static StoredServer server_of(const Hub& hub) {
    return {.server = hub.server,
            .certificate_authority = hub.http.tls.ca_certificates,
            .tls_server_name = hub.http.tls.server_name,
            .origin = hub.origin};
  }

  // This process's identities: at the hub, if there is one, and the Pod's, also if both are at one
  // server. Outside of a Pod there is none of the Pod, and a Pod may have no token. The source of
  // files in a Pod is the Pod's cluster.
  std::vector<HubIdentity> own_identities(const Hub* hub, const Environment& environment) const {
    const bool is_from_hub = options_.is_from_hub();
    std::vector<HubIdentity> own;
    if (hub != nullptr) {
      own.push_back(
          {.token = hub->token.copy(), .server = server_of(*hub), .is_source = is_from_hub});
    }
    std::string server = in_cluster_server(environment);
    if (server.empty()) return own;
    Result<SecretString> token = in_cluster_token(environment);
    Result<std::string> authority = in_cluster_authority();
    own.push_back(
        {.token = token ? std::move(*token) : SecretString(),
         .server = {.server = std::move(server),
                    .certificate_authority = authority ? std::move(*authority) : std::string(),
                    .origin = "the Pod's service account"},
         .is_source = !is_from_hub});
    return own;
  }

  Result<StoredCredential> read_from_hub(const CredentialRequest& request,
                                         const CallContext& run) const {
    Hub hub = TRY(find_hub(options_.kubeconfig, run.environment));
    const OwnNamespace order = options_.convention.own_namespace;
    const std::string own_name = own_namespace(order, hub, run.environment);
    Result<Plan> made = make_plan(options_, request, own_name.empty() ? "default" : own_name,
                                  request.settings->get("namespace").is_from_controller());
    // The Pod's own namespace may be the one that was refused.
    const bool is_own_unread = own_name.empty() && !in_cluster_server(run.environment).empty();
    if (!made && is_own_unread) made.error().is_by_rule = false;
    const Plan plan = TRY(std::move(made));
    const std::vector<HubIdentity> own = own_identities(&hub, run.environment);
    run.debug("reading from the hub " + redacted_url(hub.server) + ", namespace " +
              in_quotes(plan.name_space));
    deadline::enter_phase("reading the Secret from the hub");
    HubClient client(std::move(hub), run);
    const StoredSecret secret = TRY(find_secret(client, plan));
    run.debug("found Secret " + in_quotes(secret.full_name()));
    TRY(check_secret_type(secret, options_));
    StoredCredential stored = TRY(read_stored(secret, plan, options_, run.clock.now()));
    TRY(add_annotated_server(secret, options_, stored));
    if (!options_.allow_hub_token) TRY(check_hub_token(stored, own, options_, request));
    return stored;
  }

  // Empty if it is not known.
  static std::string own_namespace(OwnNamespace order, const Hub& hub,
                                   const Environment& environment) {
    if (order == OwnNamespace::environment_first) {
      if (const auto name = environment.get("NAMESPACE")) return std::string(*name);
      if (std::string name = in_cluster_namespace(environment); !name.empty()) return name;
    }
    if (!hub.name_space.empty()) return hub.name_space;
    return in_cluster_namespace(environment);
  }

  Options options_;
};

PluginDefinition plugin() {
  return {
      .info =
          {.name = "execcred-static-secret",
           .summary =
               "Gives the client a credential that is stored in a Secret of the hub or in files.",
           .examples = {{{"Print the token in a Secret of the hub",
                          "execcred-static-secret --namespace=clusters --secret-name=spoke-1"},
                         {"Print the token in a mounted Secret",
                          "execcred-static-secret --secret-dir=secret"}}},
           .is_cheap_to_ask = true},
      .make = [] { return std::unique_ptr<Provider>(std::make_unique<StaticSecret>()); }};
}

}  // namespace execcred::static_secret

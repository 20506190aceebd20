// SPDX-License-Identifier: Apache-2.0
#include "subject_kubernetes.hpp"

#include "subject_url.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/hub/service_account_token.hpp>

#include <utility>

namespace execcred::oidc_federation {
namespace {

// The subject of a JWT; empty if the token is not a JWT or has no subject.
std::string subject_of(const SecretString& token) {
  const Result<std::optional<UnverifiedClaims>> claims = unverified_claims(token);
  return claims && claims->has_value() ? (*claims)->subject : std::string();
}

// "NAMESPACE/NAME" of the service account in a token's subject. Fails (configuration) if the
// subject is not one.
Result<std::string> own_service_account(const std::string& subject) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (subject.starts_with(kPrefix)) {
    std::string name = subject.substr(kPrefix.size());
    const std::size_t colon = name.find(':');
    if (colon != std::string::npos) {
      name[colon] = '/';
      return name;
    }
  }
  return Error::configuration("--subject=kubernetes needs --service-account=NAMESPACE/NAME",
                              "only in a Pod it is known without that: the Pod's own");
}

}  // namespace

Result<Hub> plan_kubernetes(const Options& options, Inputs& inputs) {
  Result<Hub> hub = find_hub(options.subject.kubeconfig, inputs.environment());
  if (!hub) return hub;
  inputs.add("hub.server", hub->server);
  inputs.add_token("hub.token", hub->token);
  inputs.add_secret("hub.certificate", hub->http.tls.client_certificate);
  // The request is made with what is recorded.
  hub->token_file.clear();
  hub->tls_files = {};
  return hub;
}

Result<SecretString> request_from_kubernetes(const Options& options, const Result<Hub>& found,
                                             CallContext& call) {
  if (!found) return found.error();
  Hub hub = found->copy();
  std::string account = options.subject.service_account;
  if (account.empty()) {
    account = TRY(own_service_account(subject_of(hub.token)));
  }
  hub.http.deadline = call.deadline;
  call.debug("asking the hub " + redacted_url(hub.server) + " for a token of " +
             in_quotes(account));
  HubClient client(std::move(hub), call);
  const std::size_t slash = account.find('/');
  Result<ServiceAccountToken> made =
      request_service_account_token(client, {.name_space = account.substr(0, slash),
                                             .name = account.substr(slash + 1),
                                             .audiences = {subject_audience(options)}});
  if (!made) return std::move(made).error();
  return std::move(made->token);
}

}  // namespace execcred::oidc_federation

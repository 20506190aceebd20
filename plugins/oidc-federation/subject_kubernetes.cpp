// SPDX-License-Identifier: Apache-2.0
#include "subject_kubernetes.hpp"

#include "subject_url.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/identity.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/hub/service_account_token.hpp>
#include <execcred/os/file.hpp>

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
  return Error{.kind = Error::Kind::configuration,
               .message = "--subject=kubernetes needs --service-account=NAMESPACE/NAME",
               .hint = "only in a Pod it is known without that: the Pod's own"};
}

// Adds the identity at the hub: the kubeconfigs, by their content. A read error is reported when
// the hub is asked.
void add_kubeconfigs(std::string_view paths, CacheKey& key) {
  for (const std::string_view path : split(paths, ':')) {
    if (path.empty()) continue;
    const Result<SecretString> content = read_secret_file(path, kMaxKubeconfig);
    key.add("hub.kubeconfig", path);
    key.add("hub.kubeconfig.fingerprint",
            content ? fingerprint("kubeconfig", content->reveal()) : "unreadable");
  }
}

void add_identity(std::string_view kubeconfig, const Environment& environment, CacheKey& key) {
  const Result<Hub> hub = find_hub(kubeconfig, environment);
  if (!hub) return;
  add_token_identity("hub.token", hub->token, key);
  key.add("hub.certificate", fingerprint("certificate", hub->http.tls.client_certificate));
}

}  // namespace

Status identify_kubernetes(const Options& options, const Environment& environment, CacheKey& key) {
  const SubjectOptions& subject = options.subject;
  key.add("subject", "kubernetes").add("subject-audience", subject_audience(options));
  key.add("service-account", subject.service_account);
  if (!subject.kubeconfig.empty()) {
    add_kubeconfigs(subject.kubeconfig, key);
    add_identity(subject.kubeconfig, environment, key);
  } else if (const auto paths = environment.get("KUBECONFIG")) {
    add_kubeconfigs(*paths, key);
    add_identity({}, environment, key);
  } else {
    key.add("hub.host", environment.get("KUBERNETES_SERVICE_HOST").value_or(""));
    key.add("hub.port", environment.get("KUBERNETES_SERVICE_PORT").value_or(""));
    const Result<SecretString> token = in_cluster_token(environment);
    if (token) add_token_identity("hub.token", *token, key);
  }
  return {};
}

Result<SecretString> request_from_kubernetes(const Options& options, CallContext& call) {
  Hub hub = TRY(find_hub(options.subject.kubeconfig, call.environment));
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

// SPDX-License-Identifier: Apache-2.0
#include "workload_identity.hpp"

#include "entra_failure.hpp"
#include "tenant.hpp"
#include "token_proxy.hpp"

#include <execcred/base/form.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/http/http.hpp>
#include <execcred/oauth/token_post.hpp>
#include <execcred/os/deadline.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace execcred::azure {
namespace {

constexpr std::string_view kAssertionType =
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
constexpr const char* kWebhookHint =
    "; AKS sets it in Pods with the label azure.workload.identity/use: \"true\"";

Error unset(std::string_view what, std::string_view option, std::string_view variable) {
  return Error::configuration(
      "no " + std::string(what) + " is set",
      "pass " + std::string(option) + ", or set " + std::string(variable) + kWebhookHint);
}

class WorkloadIdentity {
 public:
  WorkloadIdentity(const Options& options, const CredentialRequest& request)
      : options_(options), request_(request) {}

  Status open(const Settings& settings, Inputs& inputs);
  Result<Issued> ask(CallContext& call) const;

 private:
  Status read_settings(const Settings& settings, Inputs& inputs);
  Status read_assertion(Inputs& inputs);
  Form form() const;
  Result<TokenReply> post(CallContext& call) const;

  const Options& options_;
  const CredentialRequest& request_;
  // The server that is asked: Entra, or the proxy of an identity binding.
  std::string server() const { return proxy_ ? proxy_->origin : options_.authority_host; }

  std::string tenant_;
  std::optional<TokenProxy> proxy_;
  BearerToken assertion_;
};

Status WorkloadIdentity::open(const Settings& settings, Inputs& inputs) {
  TRY(read_settings(settings, inputs));
  return read_assertion(inputs).context("reading the federated token file " +
                                        in_quotes(options_.federated_token_file.native()));
}

Status WorkloadIdentity::read_settings(const Settings& settings, Inputs& inputs) {
  const ExecInfo& info = inputs.request().info;
  if (options_.client_id.empty()) {
    Error error = unset("client id", "--client-id=ID", kClientVariable);
    const bool may_be_of_profile = !options_.allow_client_ids.empty();
    return may_be_of_profile && !info.cluster ? lacks_cluster_info(std::move(error)) : error;
  }
  if (options_.federated_token_file.empty()) {
    return unset("federated token file", "--federated-token-file=PATH", kTokenFileVariable);
  }
  tenant_ = TRY(chosen_tenant(options_, settings.get("tenant-id"), info,
                              inputs.unrecorded_environment("the tenant itself is recorded")));
  inputs.add("tenant", ascii_lower(tenant_));
  proxy_ = TRY(token_proxy_of(inputs.environment()));
  // A request that fails with one CA may succeed with the next.
  if (proxy_) inputs.add_secret("token-proxy.ca", proxy_->ca_certificates);
  return {};
}

// A file without a token must not lead to a request without an assertion, and nothing but a token
// may be sent.
Status WorkloadIdentity::read_assertion(Inputs& inputs) {
  assertion_ = TRY(inputs.token_file("federated-token", options_.federated_token_file));
  const std::optional<UnverifiedClaims> claims = TRY(assertion_.claims());
  if (claims) return {};
  return Error{.kind = Error::Kind::no_credential,
               .message = "the federated token is no JWT",
               .hint =
                   "it is the projected token of a service account, for the audience "
                   "api://AzureADTokenExchange"};
}

// The fields of the request, in the order of azure-identity.
Form WorkloadIdentity::form() const {
  Form form;
  form.add("client_assertion", assertion_.text());
  form.add("client_assertion_type", kAssertionType);
  form.add("client_id", options_.client_id);
  form.add("grant_type", "client_credentials");
  form.add("scope", options_.server_id + "/.default");
  return form;
}

Result<TokenReply> WorkloadIdentity::post(CallContext& call) const {
  TlsSettings tls;
  if (!options_.ca_file.empty()) {
    tls.ca_certificates = TRY(
        read_ca_file(options_.ca_file).context(request_.reading("--ca-file", options_.ca_file)));
  }
  if (proxy_) proxy_->apply(tls);
  const auto client =
      make_http_client({.tls = std::move(tls), .proxy = proxy_of(call.environment)}, call);
  // Entra accepts a projected token any number of times, although it has a jti.
  const std::string& base = proxy_ ? proxy_->url : options_.authority_host;
  TokenPost post = {.url = base + "/" + tenant_ + "/oauth2/v2.0/token"};
  post.make_form = [this](HttpRequest&) -> Result<Form> { return form(); };
  post.judge = [this](const HttpResponse& reply, const std::string& /*server*/) {
    return judge_entra_reply(reply, server());
  };
  return post_for_token(*client, post, call);
}

Result<Issued> WorkloadIdentity::ask(CallContext& call) const {
  // Only now, because the cached result outlives the token.
  Status checked = check_source_lifetime(assertion_.text(), call.clock.now());
  if (!checked) checked.error().is_local = true;
  TRY(std::move(checked).context("looking at the federated token in " +
                                 in_quotes(options_.federated_token_file.native())));
  deadline::enter_phase("asking Entra for a token");
  call.debug("asking " + server() + " for a token of the tenant " + tenant_);
  TokenReply reply =
      TRY(post(call).context("asking for a token of the tenant " + in_quotes(tenant_)));
  Issued fresh;
  fresh.credential = {.token = std::move(reply.token), .expires_at = reply.expires_at};
  fresh.identity = options_.client_id + " of " + tenant_;
  fresh.target = options_.server_id + " at " + server();
  return fresh;
}

}  // namespace

Result<CredentialCache::Ask> open_workload_identity(const Options& options,
                                                    const Settings& settings, Inputs& inputs) {
  const auto identity = std::make_shared<WorkloadIdentity>(options, inputs.request());
  TRY(identity->open(settings, inputs));
  return CredentialCache::Ask([identity](CallContext& call) { return identity->ask(call); });
}

}  // namespace execcred::azure

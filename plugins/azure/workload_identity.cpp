// SPDX-License-Identifier: Apache-2.0
#include "workload_identity.hpp"

#include "entra_failure.hpp"
#include "tenant.hpp"
#include "token_proxy.hpp"

#include <execcred/base/form.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/cluster_info.hpp>
#include <execcred/exec/identity.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/http/http.hpp>
#include <execcred/oauth/failure.hpp>
#include <execcred/oauth/token_post.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>

#include <optional>
#include <utility>

namespace execcred::azure {
namespace {

constexpr std::string_view kAssertionType =
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
constexpr const char* kWebhookHint =
    "; AKS sets it in Pods with the label azure.workload.identity/use: \"true\"";

Error unset(std::string_view what, std::string_view option, std::string_view variable) {
  return Error{
      .kind = Error::Kind::configuration,
      .message = "no " + std::string(what) + " is set",
      .hint = "pass " + std::string(option) + ", or set " + std::string(variable) + kWebhookHint};
}

class WorkloadIdentity final : public Identity {
 public:
  WorkloadIdentity(const Options& options, const CallContext& run) : options_(options), run_(run) {}

  Status open(const ExecInfo& info);
  void identify(CacheKey& key) const override;
  Result<Issued> ask(CallContext& call) const override;

 private:
  Status read_settings(const ExecInfo& info);
  Status read_assertion();
  Status check_assertion() const;
  Form form() const;
  Result<TokenReply> post(CallContext& call) const;

  const Options& options_;
  const CallContext& run_;
  // The server that is asked: Entra, or the proxy of an identity binding.
  std::string server() const { return proxy_ ? proxy_->origin : options_.authority_host; }

  std::string tenant_;
  std::optional<TokenProxy> proxy_;
  SecretString assertion_;
};

Status WorkloadIdentity::open(const ExecInfo& info) {
  TRY(read_settings(info));
  return read_assertion().context("reading the federated token file " +
                                  in_quotes(options_.federated_token_file.native()));
}

Status WorkloadIdentity::read_settings(const ExecInfo& info) {
  if (options_.client_id.empty()) {
    Error error = unset("client id", "--client-id=ID", kClientVariable);
    const bool may_be_of_profile = !options_.allow_client_ids.empty();
    return may_be_of_profile && !info.cluster ? lacks_cluster_info(std::move(error)) : error;
  }
  if (options_.federated_token_file.empty()) {
    return unset("federated token file", "--federated-token-file=PATH", kTokenFileVariable);
  }
  tenant_ = TRY(chosen_tenant(options_, info, run_.environment));
  proxy_ = TRY(token_proxy_of(run_.environment));
  return {};
}

// A file without a token must not lead to a request without an assertion, and nothing but a token
// may be sent.
Status WorkloadIdentity::read_assertion() {
  const SecretString content = TRY(read_secret_file(options_.federated_token_file));
  assertion_ = TRY(bearer_token(content));
  const std::optional<UnverifiedClaims> claims = TRY(unverified_claims(assertion_));
  if (claims) return {};
  return Error{.kind = Error::Kind::no_credential,
               .message = "the federated token is no JWT",
               .hint =
                   "it is the projected token of a service account, for the audience "
                   "api://AzureADTokenExchange"};
}

// The identity in the token stays the same when the kubelet renews the token.
void WorkloadIdentity::identify(CacheKey& key) const {
  key.add("identity", "workload");
  key.add("authority-host", options_.authority_host);
  key.add("tenant-id", ascii_lower(tenant_));
  key.add("client-id", ascii_lower(options_.client_id));
  if (!options_.ca_file.empty()) key.add("ca-file", options_.ca_file.native());
  if (proxy_) proxy_->identify(key);
  key.add("federated-token-file", options_.federated_token_file.native());
  add_token_identity("federated-token", assertion_, key);
}

// The token's lifetime is checked only before it is sent, because the cached result outlives the
// token.
Status WorkloadIdentity::check_assertion() const {
  return check_lifetime(assertion_, run_.clock.now());
}

// The fields of the request, in the order of azure-identity.
Form WorkloadIdentity::form() const {
  Form form;
  form.add("client_assertion", assertion_);
  form.add("client_assertion_type", kAssertionType);
  form.add("client_id", options_.client_id);
  form.add("grant_type", "client_credentials");
  form.add("scope", options_.server_id + "/.default");
  return form;
}

Result<TokenReply> WorkloadIdentity::post(CallContext& call) const {
  TlsSettings tls;
  if (!options_.ca_file.empty()) {
    tls.ca_certificates =
        TRY(read_ca_file(options_.ca_file)
                .context("reading --ca-file " + in_quotes(options_.ca_file.native())));
  }
  if (proxy_) proxy_->apply(tls);
  const auto client =
      make_http_client({.tls = std::move(tls), .proxy = proxy_of(call.environment)}, call);
  // Entra accepts a projected token any number of times, although it has a jti.
  const std::string& base = proxy_ ? proxy_->url : options_.authority_host;
  TokenPost post = {.url = base + "/" + tenant_ + "/oauth2/v2.0/token"};
  post.make_form = [this](HttpRequest&) -> Result<Form> { return form(); };
  post.judge = [this](const HttpResponse& reply, const std::string& /*server*/,
                      const SecretTexts& secrets) {
    return judge_entra_reply(reply, server(), secrets);
  };
  return post_for_token(*client, post, call);
}

Result<Issued> WorkloadIdentity::ask(CallContext& call) const {
  Status checked = check_assertion();
  if (!checked) checked.error().is_local = true;
  TRY(std::move(checked)
          .context("looking at the federated token in " +
                   in_quotes(options_.federated_token_file.native()))
          .hint("check that the kubelet still renews the token, and this machine's clock"));
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

Result<std::unique_ptr<Identity>> open_workload_identity(const Options& options,
                                                         const ExecInfo& info,
                                                         const CallContext& run) {
  auto identity = std::make_unique<WorkloadIdentity>(options, run);
  TRY(identity->open(info));
  return std::unique_ptr<Identity>(std::move(identity));
}

}  // namespace execcred::azure

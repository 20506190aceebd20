// SPDX-License-Identifier: Apache-2.0
#include "token_server.hpp"

#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/http/http.hpp>
#include <execcred/oauth/token_request.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>
#include <execcred/x509/certificate.hpp>

#include <utility>

namespace execcred::oidc_federation {
namespace {

Result<SecretString> read_client_secret(const std::filesystem::path& path) {
  const SecretString content = TRY(read_secret_file(path));
  SecretString secret = content.trimmed();
  if (!secret.empty()) return secret;
  return Error{.kind = Error::Kind::no_credential, .message = "the client secret is empty"};
}

Grant grant_of(Flow flow) {
  switch (flow) {
    case Flow::jwt_bearer:
      return Grant::jwt_bearer;
    case Flow::client_credentials:
      return Grant::client_credentials;
    case Flow::refresh_token:
      return Grant::refresh_token;
    case Flow::token_exchange:
    case Flow::pass_through:
    case Flow::pinniped:
      break;
  }
  return Grant::token_exchange;
}

// Whether the last request got no reply, or its reply says that the endpoint does not exist or is
// not a token endpoint. The endpoint may have moved.
bool has_found_nothing(const CallContext& call) {
  const int status = call.outcome->last_status.value_or(200);
  return status == 0 || status == 404 || status == 405 || status == 410 ||
         (status >= 300 && status < 400);
}

}  // namespace

Result<TokenServer> TokenServer::open(const Options& options, const CredentialRequest& request,
                                      CallContext& call, const CacheDirectory* directory) {
  TokenServer server(options, request, call, directory);
  TRY(server.read_tls());
  TRY(server.read_client());
  return server;
}

Status TokenServer::read_tls() {
  if (const auto& path = options_.server.ca_file; !path.empty()) {
    tls_.ca_certificates = TRY(read_ca_file(path).context(request_.reading("--ca-file", path)));
  }
  const ClientOptions& client = options_.client;
  if (client.certificate.empty()) return {};
  const std::string certificate =
      TRY(read_file(client.certificate, kMaxKubeconfig)
              .context(request_.reading("--client-certificate", client.certificate)));
  const SecretString key =
      TRY(read_secret_file(client.certificate_key)
              .context(request_.reading("--client-key", client.certificate_key)));
  ClientCertificate pair =
      TRY(check_client_certificate(certificate, key, call_.clock.now())
              .context(request_.reading("--client-certificate", client.certificate)));
  tls_.client_certificate = std::move(pair.chain);
  tls_.client_key = std::move(pair.private_key);
  return {};
}

Status TokenServer::read_client() {
  const ClientOptions& client = options_.client;
  client_.client_id = client.id;
  client_.key_id = client.key_id;
  if (!client.assertion_type.empty()) client_.assertion_type = client.assertion_type;
  if (!client.secret_file.empty()) {
    client_.secret =
        TRY(read_client_secret(client.secret_file)
                .context(request_.reading("--client-secret-file", client.secret_file)));
  }
  if (!client.private_key_file.empty()) {
    const std::string doing = request_.reading("--private-key-file", client.private_key_file);
    const SecretString pem = TRY(read_secret_file(client.private_key_file).context(doing));
    client_.private_key = TRY(SigningKey::read(pem, client.signing_alg).context(doing));
  }
  if (!options_.actor_token_file.empty()) {
    actor_token_ =
        TRY(read_bearer_token(options_.actor_token_file)
                .context(request_.reading("--actor-token-file", options_.actor_token_file)))
            .take();
  }
  return {};
}

ClientAuthMethod TokenServer::method(const std::vector<std::string>& supported) const {
  const ClientOptions& client = options_.client;
  if (client.auth) return *client.auth;
  return default_client_auth({.has_private_key = client_.private_key.has_value(),
                              .has_secret = !client_.secret.empty(),
                              .has_certificate = !tls_.client_certificate.empty(),
                              .supported = supported});
}

DiscoveryCache TokenServer::discovery() const {
  return {directory_, options_.server.issuer_url, tls_.ca_certificates};
}

Result<TokenServer::Endpoint> TokenServer::find_endpoint(HttpClient& client) const {
  const ServerOptions& server = options_.server;
  if (!server.token_url.empty()) return Endpoint{.url = server.token_url};
  deadline::enter_phase("reading the issuer's discovery document");
  DiscoveryDocument document = TRY(discovery().get(client, call_));
  const ClientAuthMethod chosen = method(document.token_endpoint_auth_methods);
  return Endpoint{.url = token_endpoint_for(document, chosen),
                  .auth_methods = std::move(document.token_endpoint_auth_methods)};
}

TokenRequest TokenServer::make_request(const SecretString& subject) const {
  TokenRequest request = options_.request;
  request.grant = grant_of(options_.flow);
  request.actor_token = actor_token_.copy();
  // In this flow the subject token only authenticates the client.
  if (options_.flow != Flow::client_credentials) request.subject = subject.copy();
  return request;
}

Result<TokenReply> TokenServer::ask(const SecretString& subject, const KeepRefreshToken& keep) {
  const auto client = make_http_client({.tls = tls_, .proxy = proxy_of(call_.environment)}, call_);
  const Endpoint endpoint = TRY(find_endpoint(*client));
  client_.method = method(endpoint.auth_methods);
  if (client_.method == ClientAuthMethod::federated) client_.assertion = subject.copy();
  client_.assertion_audience = options_.client.assertion_audience;
  if (client_.assertion_audience.empty()) {
    client_.assertion_audience =
        options_.server.issuer_url.empty() ? options_.server.token_url : options_.server.issuer_url;
  }
  deadline::enter_phase("asking the token endpoint");
  call_.debug("asking " + redacted_url(endpoint.url) + " for a token, with " +
              std::string(name_of(client_.method)));
  TokenRequest request = make_request(subject);
  request.keep_refresh_token = keep;
  Result<TokenReply> reply = request_token(*client, endpoint.url, request, client_, call_);
  if (!reply && has_found_nothing(call_) && options_.server.token_url.empty()) {
    discovery().forget();
  }
  return std::move(reply).context("asking the token endpoint " + redacted_url(endpoint.url));
}

}  // namespace execcred::oidc_federation

// SPDX-License-Identifier: Apache-2.0
#include "token_server.hpp"

#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/http/http.hpp>
#include <execcred/oauth/token_request.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>
#include <execcred/x509/certificate.hpp>

#include <utility>

namespace execcred::oidc_federation {
namespace {

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

Result<ClientFiles> ClientFiles::read(const Options& options, Inputs& inputs) {
  const auto read = [&inputs](std::string_view option, const std::filesystem::path& path,
                              std::size_t max_bytes) -> Result<SecretString> {
    if (path.empty()) return SecretString();
    return inputs.secret_file(option, path, max_bytes)
        .context(inputs.request().reading(option, path));
  };
  const ClientOptions& client = options.client;
  ClientFiles files;
  if (options.has_server()) {
    files.secret = TRY(read("client-secret-file", client.secret_file, kMaxSecretFile));
    files.private_key = TRY(read("private-key-file", client.private_key_file, kMaxSecretFile));
    files.certificate = TRY(read("client-certificate", client.certificate, kMaxPemFile));
    files.certificate_key = TRY(read("client-key", client.certificate_key, kMaxSecretFile));
  }
  const std::filesystem::path& actor = options.actor_token_file;
  if (options.flow != Flow::token_exchange || actor.empty()) return files;
  files.actor = TRY(inputs.token_file("actor", actor)
                        .context(inputs.request().reading("--actor-token-file", actor)));
  return files;
}

Result<TokenServer> TokenServer::open(const Options& options, const ClientFiles& files,
                                      const CredentialRequest& request, CallContext& call,
                                      const CacheDirectory* directory) {
  TokenServer server(options, request, call, directory);
  TRY(server.read_tls(files));
  TRY(server.read_client(files));
  return server;
}

Status TokenServer::read_tls(const ClientFiles& files) {
  if (const auto& path = options_.server.ca_file; !path.empty()) {
    tls_.ca_certificates = TRY(read_ca_file(path).context(request_.reading("--ca-file", path)));
  }
  const ClientOptions& client = options_.client;
  if (client.certificate.empty()) return {};
  ClientCertificate pair = TRY(
      check_client_certificate(files.certificate.reveal(), files.certificate_key, call_.clock.now())
          .context(request_.reading("--client-certificate", client.certificate)));
  tls_.client_certificate = std::move(pair.chain);
  tls_.client_key = std::move(pair.private_key);
  return {};
}

Status TokenServer::read_client(const ClientFiles& files) {
  const ClientOptions& client = options_.client;
  client_.client_id = client.id;
  client_.key_id = client.key_id;
  if (!client.assertion_type.empty()) client_.assertion_type = client.assertion_type;
  if (!client.secret_file.empty()) {
    client_.secret = files.secret.trimmed();
    if (client_.secret.empty()) {
      return Status(Error::no_credential("the client secret is empty"))
          .context(request_.reading("--client-secret-file", client.secret_file));
    }
  }
  if (!client.private_key_file.empty()) {
    const std::string doing = request_.reading("--private-key-file", client.private_key_file);
    client_.private_key =
        TRY(SigningKey::read(files.private_key, client.signing_alg).context(doing));
  }
  actor_token_ = files.actor.text().copy();
  return check_source_lifetime(actor_token_, call_.clock.now())
      .context("looking at the actor token");
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

// SPDX-License-Identifier: Apache-2.0
#include "credential_key.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/identity.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <optional>

namespace execcred::oidc_federation {
namespace {

// An empty text means that the option is not set: none of these options may be set to it.
void add(std::string_view name, std::string_view text, CacheKey& key) {
  if (!text.empty()) key.add(name, text);
}

void add_all(std::string_view name, const std::vector<std::string>& texts, CacheKey& key) {
  for (const std::string& text : texts) key.add(name, text);
}

// A query may contain a secret.
void add_token_url(const std::string& url, CacheKey& key) {
  const std::size_t query = url.find('?');
  add("token-url", url.substr(0, query), key);
  if (query == std::string::npos) return;
  key.add("token-url.fingerprint", fingerprint("token-url", url));
}

void add_client(const ClientOptions& client, CacheKey& key) {
  add("client-id", client.id, key);
  if (client.auth) key.add("client-auth", name_of(*client.auth));
  add("client-secret-file", client.secret_file.native(), key);
  add("private-key-file", client.private_key_file.native(), key);
  add("key-id", client.key_id, key);
  add("signing-alg", client.signing_alg, key);
  add("client-certificate", client.certificate.native(), key);
  add("client-key", client.certificate_key.native(), key);
  add("client-assertion-type", client.assertion_type, key);
  add("client-assertion-audience", client.assertion_audience, key);
}

// The order of different parameters has no meaning.
void add_parameters(const std::vector<TokenParameter>& parameters, CacheKey& key) {
  std::vector<std::string> texts;
  texts.reserve(parameters.size());
  for (const TokenParameter& parameter : parameters) {
    texts.push_back(parameter.name + " " + fingerprint(parameter.name, parameter.value));
  }
  std::sort(texts.begin(), texts.end());
  add_all("param", texts, key);
}

void add_request(const TokenRequest& request, CacheKey& key) {
  add_all("resource", request.resources, key);
  add("scope", request.scope, key);
  add("requested-token-type", token_type_urn(request.requested_token_type), key);
  add_parameters(request.parameters, key);
  key.add("token", request.token == ReplyToken::id_token ? "id_token" : "access_token");
}

Status add_actor(const Options& options, CacheKey& key) {
  if (options.actor_token_file.empty()) return {};
  const std::string path = options.actor_token_file.native();
  const auto read = [&]() -> Result<SecretString> {
    const SecretString content = TRY(read_secret_file(path));
    return bearer_token(content);
  };
  const SecretString token = TRY(read().context("reading --actor-token-file " + in_quotes(path)));
  key.add("actor-token-file", path);
  key.add("actor-token-type", token_type_urn(options.request.actor_token_type));
  add_token_identity("actor", token, key);
  return {};
}

// A credential of the Concierge is valid at one cluster.
void add_concierge(const ConciergeOptions& concierge, const ExecInfo& info, CacheKey& key) {
  key.add("concierge-authenticator-type", concierge.authenticator_type);
  key.add("concierge-authenticator-name", concierge.authenticator_name);
  key.add("concierge-api-group-suffix", concierge.api_group_suffix);
  add("concierge-endpoint", concierge.endpoint, key);
  add("concierge-ca-file", concierge.ca_file.native(), key);
  if (!concierge.endpoint.empty() || !info.cluster) return;
  key.add("server", info.cluster->server);
  key.add("tls-server-name", info.cluster->tls_server_name);
  key.add("proxy-url", fingerprint("proxy", info.cluster->proxy_url));
  key.add("certificate-authority-data",
          fingerprint("ca", info.cluster->certificate_authority_data));
}

std::string_view name_of_flow(Flow flow) {
  switch (flow) {
    case Flow::token_exchange:
      return "token-exchange";
    case Flow::jwt_bearer:
      return "jwt-bearer";
    case Flow::client_credentials:
      return "client-credentials";
    case Flow::refresh_token:
      return "refresh-token";
    case Flow::pass_through:
      return "pass-through";
    case Flow::pinniped:
      return "pinniped";
  }
  return {};
}

}  // namespace

Result<CacheKey> credential_key(const Options& options, const ExecInfo& info) {
  CacheKey key;
  key.add("plugin", "oidc-federation").add("flow", name_of_flow(options.flow));
  add_all("audience", options.request.audiences, key);
  add_all("expect-audience", options.expect_audiences, key);
  if (options.flow == Flow::pinniped) add_concierge(options.concierge, info, key);
  if (!options.has_server()) return key;
  add("issuer-url", options.server.issuer_url, key);
  add_token_url(options.server.token_url, key);
  add("ca-file", options.server.ca_file.native(), key);
  add_client(options.client, key);
  add_request(options.request, key);
  if (options.flow != Flow::token_exchange) return key;
  key.add("subject-token-type", token_type_urn(options.request.subject_token_type));
  TRY(add_actor(options, key));
  return key;
}

std::string identity_of(const Credential& credential, const std::string& client) {
  const Result<std::optional<UnverifiedClaims>> claims = unverified_claims(credential.token);
  if (!claims || !claims->has_value() || (*claims)->subject.empty()) return client;
  return (*claims)->subject + ((*claims)->issuer.empty() ? "" : " of " + (*claims)->issuer);
}

}  // namespace execcred::oidc_federation

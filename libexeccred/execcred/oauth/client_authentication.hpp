// SPDX-License-Identifier: Apache-2.0
// How a client authenticates to an OAuth 2.0 server (RFC 6749 section 2.3, RFC 7521, RFC 7523, RFC
// 8705): by exactly one mechanism in each request.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/form.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/http/http.hpp>
#include <execcred/oauth/jwt_sign.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

enum class ClientAuthMethod {
  none,                 // a public client: its id alone, if it has one
  client_secret_basic,  // in the Authorization header
  client_secret_post,   // in the body
  private_key_jwt,      // an assertion signed for this request
  tls_client_auth,      // the certificate of the TLS connection
  federated,            // an assertion that another issuer made
};

struct NamedAuthMethod {
  std::string_view name;
  ClientAuthMethod value;
};
inline constexpr std::array<NamedAuthMethod, 6> kClientAuthMethods = {
    {{"client_secret_basic", ClientAuthMethod::client_secret_basic},
     {"client_secret_post", ClientAuthMethod::client_secret_post},
     {"private_key_jwt", ClientAuthMethod::private_key_jwt},
     {"tls_client_auth", ClientAuthMethod::tls_client_auth},
     {"federated", ClientAuthMethod::federated},
     {"none", ClientAuthMethod::none}}};
std::string_view name_of(ClientAuthMethod method);

// What the client can authenticate with, and what the server says it accepts.
struct ClientAuthChoice {
  bool has_private_key = false;
  bool has_secret = false;
  bool has_certificate = false;
  std::vector<std::string> supported = {};  // token_endpoint_auth_methods_supported; empty: unknown
};

// The key takes precedence over the secret, and the secret over the certificate. A secret goes into
// the header, unless the server accepts it only in the body.
ClientAuthMethod default_client_auth(const ClientAuthChoice& choice);

// The type of a client assertion: `name` if it contains a colon, else `name` after
// "urn:ietf:params:oauth:client-assertion-type:".
std::string client_assertion_type(std::string_view name);

// The header for a pair of "ID:SECRET" (RFC 7617).
HttpHeader basic_authorization(const SecretString& pair);

struct ClientAuthentication {
  ClientAuthMethod method = ClientAuthMethod::none;
  std::string client_id = {};
  SecretString secret = {};                    // client_secret_*
  std::optional<SigningKey> private_key = {};  // private_key_jwt
  std::string key_id = {};                     // likewise
  std::string assertion_audience = {};         // likewise: the issuer or the token endpoint
  SecretString assertion = {};                 // federated
  std::string assertion_type = "jwt-bearer";   // federated
};

// Adds the client's authentication to the request's headers or to its form. For private_key_jwt,
// each call makes a new assertion, because servers refuse one that they have seen before; it is
// valid for three minutes. tls_client_auth adds only the client's id: the certificate must be in
// the HttpSettings. Fails (configuration) if a part is missing or malformed, or if the form or the
// request already authenticates a client.
Status authenticate_client(const ClientAuthentication& client, TimePoint now, HttpRequest& request,
                           Form& form);

}  // namespace execcred

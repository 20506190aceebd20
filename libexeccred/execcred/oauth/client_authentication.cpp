// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/client_authentication.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace execcred {
namespace {

constexpr std::chrono::seconds kAssertionLifetime = std::chrono::minutes(3);
constexpr std::string_view kAssertionTypes = "urn:ietf:params:oauth:client-assertion-type:";

Error needs(ClientAuthMethod method, std::string_view what) {
  return Error::configuration("the client authentication " + std::string(name_of(method)) +
                              " needs " + std::string(what));
}

Status check_alone(const HttpRequest& request, const Form& form) {
  for (const std::string_view name :
       {"client_id", "client_secret", "client_assertion", "client_assertion_type"}) {
    if (form.has(name)) return Error::configuration("the request authenticates its client twice");
  }
  const auto is_authorization = [](const HttpHeader& header) {
    return ascii_lower(header.name) == "authorization";
  };
  if (std::any_of(request.headers.begin(), request.headers.end(), is_authorization)) {
    return Error::configuration("the request authenticates its client twice");
  }
  return {};
}

Status check_secret(const ClientAuthentication& client) {
  if (client.client_id.empty()) return needs(client.method, "a client id");
  if (client.secret.empty()) return needs(client.method, "a client secret");
  if (has_control_character(client.secret.reveal())) {
    return Error::configuration("the client secret has a control character, a line break perhaps");
  }
  return {};
}

// Both parts are form-urlencoded first (RFC 6749, section 2.3.1), which some servers insist on.
void add_basic(const ClientAuthentication& client, HttpRequest& request) {
  SecretString pair = form_urlencode(client.client_id);
  pair.append(":");
  pair.append(form_urlencode(client.secret.reveal()).reveal());
  request.headers.push_back(basic_authorization(pair));
}

Result<std::string> random_id() {
  std::array<char, 16> bytes = {};
  ssize_t size = 0;
  do {
    size = getrandom(bytes.data(), bytes.size(), 0);
  } while (size < 0 && errno == EINTR);
  if (size != static_cast<ssize_t>(bytes.size())) {
    return Error{.message = "the system gives no random numbers", .is_local = true};
  }
  return std::string(encode_base64url({bytes.data(), bytes.size()}).reveal());
}

Result<SecretString> make_assertion(const ClientAuthentication& client, TimePoint now) {
  if (!client.private_key) return needs(client.method, "a private key");
  if (client.client_id.empty()) return needs(client.method, "a client id");
  if (client.assertion_audience.empty()) return needs(client.method, "an assertion audience");
  const std::string id = TRY(random_id());
  json::Value claims;
  claims.add("iss", json::Value(client.client_id));
  claims.add("sub", json::Value(client.client_id));
  // One string, because some servers refuse an array.
  claims.add("aud", json::Value(client.assertion_audience));
  claims.add("jti", json::Value(id));
  claims.add("iat", numeric_date(now));
  claims.add("exp", numeric_date(now + kAssertionLifetime));
  return sign_jwt(*client.private_key, client.key_id, claims);
}

void add_assertion(std::string_view type, const SecretString& assertion, Form& form) {
  form.add("client_assertion_type", client_assertion_type(type));
  form.add("client_assertion", assertion);
}

Status add_credentials(const ClientAuthentication& client, TimePoint now, HttpRequest& request,
                       Form& form) {
  switch (client.method) {
    case ClientAuthMethod::none:
      return {};
    case ClientAuthMethod::client_secret_basic:
      TRY(check_secret(client));
      add_basic(client, request);
      return {};
    case ClientAuthMethod::client_secret_post:
      TRY(check_secret(client));
      form.add("client_secret", client.secret);
      return {};
    case ClientAuthMethod::private_key_jwt: {
      const SecretString assertion = TRY(make_assertion(client, now));
      add_assertion("jwt-bearer", assertion, form);
      return {};
    }
    case ClientAuthMethod::tls_client_auth:
      return client.client_id.empty() ? needs(client.method, "a client id") : Status();
    case ClientAuthMethod::federated:
      if (client.assertion.empty()) return needs(client.method, "an assertion");
      if (has_control_character(client.assertion.reveal())) {
        return Error::configuration("the client assertion has a control character");
      }
      if (client.assertion_type.empty()) return needs(client.method, "an assertion type");
      add_assertion(client.assertion_type, client.assertion, form);
      return {};
  }
  return Error::internal("a client authentication without a name");
}

}  // namespace

std::string_view name_of(ClientAuthMethod method) {
  const auto* found =
      std::find_if(kClientAuthMethods.begin(), kClientAuthMethods.end(),
                   [method](const NamedAuthMethod& known) { return known.value == method; });
  return found == kClientAuthMethods.end() ? std::string_view() : found->name;
}

ClientAuthMethod default_client_auth(const ClientAuthChoice& choice) {
  if (choice.has_private_key) return ClientAuthMethod::private_key_jwt;
  if (choice.has_secret) {
    const auto takes = [&choice](ClientAuthMethod method) {
      return std::find(choice.supported.begin(), choice.supported.end(), name_of(method)) !=
             choice.supported.end();
    };
    return !takes(ClientAuthMethod::client_secret_basic) &&
                   takes(ClientAuthMethod::client_secret_post)
               ? ClientAuthMethod::client_secret_post
               : ClientAuthMethod::client_secret_basic;
  }
  return choice.has_certificate ? ClientAuthMethod::tls_client_auth : ClientAuthMethod::none;
}

std::string client_assertion_type(std::string_view name) {
  const bool is_whole = name.find(':') != std::string_view::npos;
  return std::string(is_whole ? std::string_view() : kAssertionTypes).append(name);
}

HttpHeader basic_authorization(const SecretString& pair) {
  std::string encoded = encode_base64(pair.reveal());
  SecretString value("Basic ");
  value.append(encoded);
  wipe(encoded);
  return {.name = "Authorization", .value = std::move(value)};
}

Status authenticate_client(const ClientAuthentication& client, TimePoint now, HttpRequest& request,
                           Form& form) {
  TRY(check_alone(request, form));
  if (has_control_character(client.client_id)) {
    return Error::configuration("the client id has a control character");
  }
  // With client_secret_basic, the header already contains the client's id.
  if (!client.client_id.empty() && client.method != ClientAuthMethod::client_secret_basic) {
    form.add("client_id", client.client_id);
  }
  return add_credentials(client, now, request, form);
}

}  // namespace execcred

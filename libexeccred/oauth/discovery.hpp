// SPDX-License-Identifier: Apache-2.0
// What an OpenID Connect issuer publishes about itself (OpenID Connect Discovery 1.0, RFC 8414),
// as far as getting tokens needs it.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/client_authentication.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct DiscoveryDocument {
  std::string issuer = {};
  std::string token_endpoint = {};
  std::vector<std::string> token_endpoint_auth_methods = {};  // empty: it does not say
  std::string mtls_token_endpoint = {};  // of mtls_endpoint_aliases (RFC 8705), or empty
};

// ISSUER without one '/' at its end + "/.well-known/openid-configuration". Fails (configuration)
// for what is no https URL, or has a query.
Result<std::string> discovery_url(std::string_view issuer);

// The document must name exactly this issuer, byte for byte. Fails (no_credential): that, no JSON
// object, duplicate keys, members of the wrong type, an endpoint that is no https URL.
Result<DiscoveryDocument> parse_discovery(std::string_view document, std::string_view issuer);

// GETs and parses it, at most 1 MiB, by the retry policy.
Result<DiscoveryDocument> discover(HttpClient& client, std::string_view issuer,
                                   const RetryPolicy& policy);

// Where a client that authenticates so asks for tokens.
const std::string& token_endpoint_for(const DiscoveryDocument& document, ClientAuthMethod method);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// What an OpenID Connect issuer publishes about itself (OpenID Connect Discovery 1.0, RFC 8414),
// as far as getting tokens needs it.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/client_authentication.hpp>

#include <optional>
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
Result<DiscoveryDocument> discover(HttpClient& client, std::string_view issuer, CallContext& call,
                                   const RetryPolicy& policy = {});

// The token endpoint for a client that authenticates in this way.
const std::string& token_endpoint_for(const DiscoveryDocument& document, ClientAuthMethod method);

// An issuer's discovery document, stored in the cache directory for an hour: a token endpoint
// rarely changes, and discovery costs as much as a token request.
//
// There is no lock, unlike for credentials: a document is fetched by a GET that changes nothing at
// the issuer, so that two processes may both fetch it, and the later one's file stays.

class DiscoveryCache {
 public:
  // Without a directory nothing is stored; a given one must outlive this. `ca_certificates` are
  // those that verify the issuer (TlsSettings): a document that was verified with others is not
  // used.
  DiscoveryCache(const CacheDirectory* directory, std::string_view issuer,
                 std::string_view ca_certificates);

  // The kept document while it is younger than an hour, else the issuer's. The stored document is
  // parsed as strictly as the issuer's: a corrupt or different one is a miss. Fails as discover()
  // does.
  Result<DiscoveryDocument> get(HttpClient& client, CallContext& call,
                                const RetryPolicy& policy = {}) const;

  // For an endpoint that does not exist any more: the next run asks the issuer again.
  void forget() const;

 private:
  std::optional<DiscoveryDocument> kept(TimePoint now) const;
  Status keep(const DiscoveryDocument& document, TimePoint now) const;

  const CacheDirectory* directory_;
  std::string issuer_;
  std::string key_;   // CacheKey::text()
  std::string name_;  // of the file
};

}  // namespace execcred

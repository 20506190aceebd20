// SPDX-License-Identifier: Apache-2.0
// The part of an OpenID Connect issuer's discovery document (OpenID Connect Discovery 1.0, RFC
// 8414) that is needed to request tokens.
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

// The URL of the discovery document: the issuer, without one '/' at its end, and
// "/.well-known/openid-configuration". Fails (configuration) if the issuer is not an https URL or
// has a query.
Result<std::string> discovery_url(std::string_view issuer);

// Parses a document. Fails (no_credential) if its issuer is not `issuer`, byte for byte, if it is
// not a JSON object, has duplicate keys or members of the wrong type, or if an endpoint is not an
// https URL.
Result<DiscoveryDocument> parse_discovery(std::string_view document, std::string_view issuer);

// Fetches (GET, at most 1 MiB, by the retry policy) and parses the document. Fails as
// discovery_url(), send_with_retries() and parse_discovery() do, and for a status other than 200 as
// status_failure() describes.
Result<DiscoveryDocument> discover(HttpClient& client, std::string_view issuer, CallContext& call,
                                   const RetryPolicy& policy = {});

// The token endpoint for a client that authenticates in this way.
const std::string& token_endpoint_for(const DiscoveryDocument& document, ClientAuthMethod method);

// An issuer's discovery document, stored in the cache directory for an hour: a token endpoint
// rarely changes, and discovery costs as much as a token request.
//
// There is no lock, unlike for credentials: a document is fetched by a GET that changes nothing at
// the issuer. Two processes may both fetch it, and the file that was written later stays.

class DiscoveryCache {
 public:
  // Stores nothing if `directory` is null; otherwise it must outlive this. `ca_certificates` are
  // the ones that verify the issuer (TlsSettings): a document that was verified with others is not
  // used.
  DiscoveryCache(const CacheDirectory* directory, std::string_view issuer,
                 std::string_view ca_certificates);

  // The stored document if it is younger than an hour, else the issuer's. The stored document is
  // parsed as strictly as the issuer's: a corrupt document, or one of another issuer, is a cache
  // miss. Fails as discover() does.
  Result<DiscoveryDocument> get(HttpClient& client, CallContext& call,
                                const RetryPolicy& policy = {}) const;

  // Removes the stored document, for example if its endpoint does not exist any more: the next run
  // asks the issuer again.
  void forget() const;

 private:
  std::optional<DiscoveryDocument> stored(TimePoint now) const;
  Status keep(const DiscoveryDocument& document, TimePoint now) const;

  const CacheDirectory* directory_;
  std::string issuer_;
  std::string key_;   // CacheKey::text()
  std::string name_;  // of the file
};

}  // namespace execcred

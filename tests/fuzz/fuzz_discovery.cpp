// SPDX-License-Identifier: Apache-2.0
// Discovery documents, and the URLs that they are fetched from. An accepted document has the issuer
// byte for byte, and only https endpoints.
#include "fuzz.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/oauth/discovery.hpp>

#include <nlohmann/json.hpp>
#include <string>

namespace execcred::fuzz {
namespace {

void require_https(const std::string& url) {
  const Result<Url> parsed = parse_url(url);
  require(parsed && parsed->scheme == "https", "an https endpoint");
}

void check_document(std::string_view input, std::string_view issuer) {
  const Result<DiscoveryDocument> document = parse_discovery(input, issuer);
  if (!document) {
    require(document.error().kind == Error::Kind::no_credential, "the server is at fault");
    return;
  }
  require(document->issuer == issuer, "the issuer, byte for byte");
  require_https(document->token_endpoint);
  if (!document->mtls_token_endpoint.empty()) require_https(document->mtls_token_endpoint);
  for (const std::string& method : document->token_endpoint_auth_methods) {
    require(!has_control_character(method), "no control character");
  }
  const nlohmann::json theirs = nlohmann::json::parse(input, nullptr, false);
  // Unread members may contain numbers that no double can hold.
  if (theirs.is_discarded()) return;
  require(theirs["issuer"] == document->issuer, "the member of that name");
  require(theirs["token_endpoint"] == document->token_endpoint, "the member of that name");
}

void check_issuer(std::string_view issuer) {
  const Result<std::string> url = discovery_url(issuer);
  if (!url) {
    require(url.error().kind == Error::Kind::configuration, "the issuer is at fault");
    return;
  }
  require(url->starts_with("https://") || ascii_lower(*url).starts_with("https://"), "https");
  require(url->ends_with("/.well-known/openid-configuration"), "the path of the document");
  const Result<Url> ours = parse_url(issuer);
  const Result<Url> theirs = parse_url(*url);
  // The URL may be too long now.
  if (ours && theirs) {
    require(ours->host == theirs->host && ours->port == theirs->port, "the issuer's own server");
    require(theirs->query.empty(), "no query");
  }
}

}  // namespace

void check(std::string_view input) {
  check_document(input, "https://idp.example");
  const std::vector<std::string_view> halves = parts(input, "\n", 2);
  check_document(halves[1], halves[0]);
  check_issuer(halves[0]);
}

}  // namespace execcred::fuzz

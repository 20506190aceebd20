// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/discovery_cache.hpp>

#include <execcred/base/sha256.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/cache/entry.hpp>
#include <execcred/cache/fields.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/cache/tidy.hpp>
#include <execcred/json/json.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kHeader = "execcred discovery 1";
constexpr Duration kLongestAge = std::chrono::hours(1);

std::string key_of(std::string_view issuer, std::string_view ca_certificates) {
  const bool is_system = ca_certificates.empty();
  return CacheKey()
      .add("issuer", issuer)
      .add("ca", is_system ? "system" : to_hex(sha256(ca_certificates)))
      .text();
}

// The issuer's own words, as far as they are read: the document itself may have a megabyte.
std::string to_text(const DiscoveryDocument& document) {
  json::Array methods;
  for (const std::string& method : document.token_endpoint_auth_methods) {
    methods.emplace_back(method);
  }
  json::Value value;
  value.add("issuer", json::Value(document.issuer));
  value.add("token_endpoint", json::Value(document.token_endpoint));
  value.add("token_endpoint_auth_methods_supported", json::Value(std::move(methods)));
  if (!document.mtls_token_endpoint.empty()) {
    json::Value aliases;
    aliases.add("token_endpoint", json::Value(document.mtls_token_endpoint));
    value.add("mtls_endpoint_aliases", std::move(aliases));
  }
  return json::to_text(value);
}

}  // namespace

DiscoveryCache::DiscoveryCache(const CacheDirectory* directory, std::string_view issuer,
                               std::string_view ca_certificates)
    : directory_(directory),
      issuer_(issuer),
      key_(key_of(issuer, ca_certificates)),
      name_(hash_key(key_).hex() + std::string(kDiscoveryEnding)) {}

std::optional<DiscoveryDocument> DiscoveryCache::kept(TimePoint now) const {
  if (directory_ == nullptr) return std::nullopt;
  const std::optional<SecretString> text = directory_->read(name_, kMaxCacheFile);
  if (!text) return std::nullopt;
  FieldReader fields(text->reveal(), kHeader);
  const std::string_view key = fields.field("key");
  const TimePoint created(std::chrono::nanoseconds(fields.number("created")));
  const std::string_view document = fields.field("document");
  if (!fields.is_complete() || key != key_) return std::nullopt;
  if (created > now || now - created >= kLongestAge) return std::nullopt;
  Result<DiscoveryDocument> parsed = parse_discovery(document, issuer_);
  if (!parsed) return std::nullopt;
  return std::move(parsed).value();
}

Status DiscoveryCache::keep(const DiscoveryDocument& document, TimePoint now) const {
  FieldWriter fields(kHeader);
  fields.add("key", key_);
  fields.add("created", now.time_since_epoch().count());
  fields.add("document", to_text(document));
  const SecretString text = fields.finish();
  if (text.size() > kMaxCacheFile) return {};
  return directory_->write(name_, text.reveal(), now + kLongestAge);
}

Result<DiscoveryDocument> DiscoveryCache::get(HttpClient& client, const RetryPolicy& policy,
                                              const Clock& clock) const {
  if (std::optional<DiscoveryDocument> document = kept(clock.now())) {
    policy.debug("the discovery document of " + redacted_url(issuer_) + " out of the cache");
    return *std::move(document);
  }
  DiscoveryDocument document = TRY(discover(client, issuer_, policy));
  if (directory_ == nullptr) return document;
  const Status written = keep(document, clock.now());
  if (!written) policy.debug(written.error().message);
  return document;
}

void DiscoveryCache::forget() const {
  if (directory_ != nullptr) directory_->remove(name_);
}

}  // namespace execcred

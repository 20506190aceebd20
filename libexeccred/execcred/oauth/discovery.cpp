// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/discovery.hpp>

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/cache/entry.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/cache/tidy.hpp>
#include <execcred/json/json.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/oauth/failure.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kWellKnown = "/.well-known/openid-configuration";
constexpr std::size_t kMaxDocument = 1024 * 1024;

Status check_endpoint(const std::string& url, const std::string& path) {
  const Result<Url> parsed = parse_url(url);
  if (parsed && parsed->scheme == "https") return {};
  return json::field_error(
      path, redacted_url(url) + " " + (parsed ? "is no https URL" : parsed.error().message));
}

Result<DiscoveryDocument> read_document(const json::Value& value, std::string_view issuer) {
  const json::ObjectReader reader = TRY(json::ObjectReader::open(value, ""));
  DiscoveryDocument document;
  document.issuer = TRY(reader.required_string("issuer"));
  if (document.issuer != issuer) {
    return Error::no_credential(
        "the discovery document is of the issuer " + in_quotes(document.issuer) + ", not of " +
            in_quotes(issuer),
        "write the issuer exactly as the server does, with or without '/' at its end");
  }
  document.token_endpoint = TRY(reader.required_string("token_endpoint"));
  TRY(check_endpoint(document.token_endpoint, "token_endpoint"));
  document.token_endpoint_auth_methods =
      TRY(reader.strings("token_endpoint_auth_methods_supported"));
  const std::optional<json::ObjectReader> aliases =
      TRY(reader.optional_object("mtls_endpoint_aliases"));
  if (!aliases) return document;
  std::optional<std::string> alias = TRY(aliases->optional_string("token_endpoint"));
  if (!alias) return document;
  TRY(check_endpoint(*alias, aliases->path_of("token_endpoint")));
  document.mtls_token_endpoint = *std::move(alias);
  return document;
}

}  // namespace

Result<std::string> discovery_url(std::string_view issuer) {
  const auto unusable = [issuer](std::string_view problem) {
    return Error::configuration("the issuer URL " + redacted_url(issuer) + " " +
                                std::string(problem));
  };
  const Result<Url> url = parse_url(issuer);
  if (!url) return unusable(url.error().message);
  if (url->scheme != "https") return unusable("is no https URL");
  if (issuer.find('?') != std::string_view::npos) return unusable("has a query");
  if (issuer.ends_with('/')) issuer.remove_suffix(1);
  return std::string(issuer).append(kWellKnown);
}

Result<DiscoveryDocument> parse_discovery(std::string_view document, std::string_view issuer) {
  Result<json::Value> parsed = json::parse(document, {.bytes = kMaxDocument});
  if (!parsed)
    return Error::no_credential("the JSON of the discovery document " + parsed.error().message);
  Result<DiscoveryDocument> read = read_document(*parsed, issuer);
  // The mistake is the server's, so it is not an error of the configuration.
  if (!read && read.error().kind == Error::Kind::configuration) {
    return Error::no_credential("in the discovery document, " + read.error().message);
  }
  return read;
}

Result<DiscoveryDocument> discover(HttpClient& client, std::string_view issuer, CallContext& call,
                                   const RetryPolicy& policy) {
  const std::string text = TRY(discovery_url(issuer));
  const Url url = TRY(parse_url(text));
  const std::string server = origin_of(url);
  HttpRequest request = {.url = text, .max_reply_bytes = kMaxDocument};
  request.add_header("Accept", "application/json");
  const auto ask = [&]() -> Result<DiscoveryDocument> {
    const HttpResponse reply = TRY(send_with_retries(client, std::move(request), call, policy));
    if (reply.status != 200) return status_failure(reply, server);
    TRY(json_object_of(reply, server));
    return parse_discovery(reply.body.reveal(), issuer);
  };
  return ask().context("reading the discovery document of " + server);
}

const std::string& token_endpoint_for(const DiscoveryDocument& document, ClientAuthMethod method) {
  const bool has_alias = !document.mtls_token_endpoint.empty();
  return method == ClientAuthMethod::tls_client_auth && has_alias ? document.mtls_token_endpoint
                                                                  : document.token_endpoint;
}

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

// Only the members that are read are stored: the document itself may have a megabyte.
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

std::optional<DiscoveryDocument> DiscoveryCache::stored(TimePoint now) const {
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

Result<DiscoveryDocument> DiscoveryCache::get(HttpClient& client, CallContext& call,
                                              const RetryPolicy& policy) const {
  if (std::optional<DiscoveryDocument> document = stored(call.clock.now())) {
    call.debug("the discovery document of " + redacted_url(issuer_) + " out of the cache");
    return *std::move(document);
  }
  DiscoveryDocument document = TRY(discover(client, issuer_, call, policy));
  if (directory_ == nullptr) return document;
  const Status written = keep(document, call.clock.now());
  if (!written) call.debug(written.error().message);
  return document;
}

void DiscoveryCache::forget() const {
  if (directory_ != nullptr) directory_->remove(name_);
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/discovery.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/oauth/failure.hpp>

#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kWellKnown = "/.well-known/openid-configuration";
constexpr std::size_t kMaxDocument = 1024 * 1024;

Error unfit(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::no_credential, .message = std::move(message), .hint = std::move(hint)};
}

Status check_endpoint(const std::string& url, const std::string& path) {
  const Result<Url> parsed = parse_url(url);
  if (parsed && parsed->scheme == "https") return {};
  return json::field_error(
      path, in_quotes(url) + " " + (parsed ? "is no https URL" : parsed.error().message));
}

Result<DiscoveryDocument> read_document(const json::Value& value, std::string_view issuer) {
  const json::ObjectReader reader = TRY(json::ObjectReader::open(value, ""));
  DiscoveryDocument document;
  document.issuer = TRY(reader.required_string("issuer"));
  if (document.issuer != issuer) {
    return unfit("the discovery document is of the issuer " + in_quotes(document.issuer) +
                     ", not of " + in_quotes(issuer),
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
    return Error{.kind = Error::Kind::configuration,
                 .message = "the issuer URL " + redacted_url(issuer) + " " + std::string(problem)};
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
  if (!parsed) return unfit("the JSON of the discovery document " + parsed.error().message);
  Result<DiscoveryDocument> read = read_document(*parsed, issuer);
  // It is the server's mistake, and nobody's here.
  if (!read && read.error().kind == Error::Kind::configuration) {
    return unfit("in the discovery document, " + read.error().message);
  }
  return read;
}

Result<DiscoveryDocument> discover(HttpClient& client, std::string_view issuer,
                                   const RetryPolicy& policy) {
  const std::string text = TRY(discovery_url(issuer));
  const Url url = TRY(parse_url(text));
  const std::string server = origin_of(url);
  HttpRequest request = {.url = text, .max_reply_bytes = kMaxDocument};
  request.add_header("Accept", "application/json");
  const auto ask = [&]() -> Result<DiscoveryDocument> {
    const HttpResponse reply = TRY(send_with_retries(client, request, policy));
    if (reply.status != 200) return status_failure(reply, server);
    TRY(json_object_of(reply, server, {}));
    return parse_discovery(reply.body.reveal(), issuer);
  };
  return ask().context("reading the discovery document of " + server);
}

const std::string& token_endpoint_for(const DiscoveryDocument& document, ClientAuthMethod method) {
  const bool has_alias = !document.mtls_token_endpoint.empty();
  return method == ClientAuthMethod::tls_client_auth && has_alias ? document.mtls_token_endpoint
                                                                  : document.token_endpoint;
}

}  // namespace execcred

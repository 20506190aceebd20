// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/service_account_token.hpp>

#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kVersion = "authentication.k8s.io/v1";
constexpr std::string_view kKind = "TokenRequest";

Status check_names(const ServiceAccountTokenRequest& request) {
  if (!is_dns1123_label(request.name_space)) {
    return Error::configuration(in_quotes(request.name_space) +
                                " cannot be the namespace of a service account");
  }
  if (!is_dns1123_subdomain(request.name)) {
    return Error::configuration(in_quotes(request.name) +
                                " cannot be the name of a service account");
  }
  for (const std::string& audience : request.audiences) {
    if (audience.empty())
      return Error::configuration("a service account's token needs an audience");
    if (has_control_character(audience)) {
      return Error::configuration("the audience " + in_quotes(audience) +
                                  " has a control character");
    }
  }
  return {};
}

json::Value body_of(const ServiceAccountTokenRequest& asked) {
  json::Value spec;
  json::Array audiences;
  for (const std::string& audience : asked.audiences) audiences.emplace_back(audience);
  if (!audiences.empty()) spec.add("audiences", json::Value(std::move(audiences)));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(asked.lifetime).count();
  spec.add("expirationSeconds", json::Value(json::Number{.text = std::to_string(seconds)}));
  json::Value request;
  request.add("apiVersion", json::Value(kVersion));
  request.add("kind", json::Value(kKind));
  request.add("spec", std::move(spec));
  return request;
}

Result<UnverifiedClaims> claims_for(const BearerToken& token,
                                    const std::vector<std::string>& audiences,
                                    const std::string& noun) {
  std::optional<UnverifiedClaims> claims = TRY(token.claims());
  if (!claims) return Error::no_credential(noun + "'s token is no JWT");
  const std::vector<std::string>& given = claims->audiences;
  for (const std::string& audience : audiences) {
    if (std::find(given.begin(), given.end(), audience) != given.end()) continue;
    return Error::no_credential(noun + "'s token is not for the audience " + in_quotes(audience) +
                                ", but for " +
                                (given.empty() ? "none" : in_quotes(join(given, ", "))));
  }
  return *std::move(claims);
}

Result<ServiceAccountToken> read_token(const json::Value& reply,
                                       const std::vector<std::string>& audiences,
                                       const std::string& noun) {
  const json::ObjectReader reader = TRY(json::ObjectReader::open(reply, ""));
  const std::string kind = TRY(reader.required_string("kind"));
  if (kind != kKind)
    return Error::no_credential("it is a " + in_quotes(kind) + ", no " + std::string(kKind));
  const json::ObjectReader status = TRY(reader.required_object("status"));
  std::string text = TRY(status.required_string("token"));
  const SecretString content(text);
  wipe(text);
  // bearer_token() trims the text, which would hide that it is not one word.
  if (!is_visible_ascii(content.reveal())) return Error::no_credential("its token is not one word");
  ServiceAccountToken found;
  BearerToken token = TRY(bearer_token(content));
  const std::optional<std::string> end = TRY(status.optional_string("expirationTimestamp"));
  if (end) {
    found.expires_at = TRY(parse_rfc3339(*end).context("reading status.expirationTimestamp"));
  }
  found.claims = TRY(claims_for(token, audiences, noun));
  const std::optional<TimePoint>& exp = found.claims.expires_at;
  if (exp && (!found.expires_at || *exp < *found.expires_at)) found.expires_at = exp;
  found.token = std::move(token).take();
  return found;
}

}  // namespace

Result<std::string> parse_service_account(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos && is_dns1123_label(text.substr(0, slash)) &&
      is_dns1123_subdomain(text.substr(slash + 1))) {
    return text;
  }
  return Error::configuration(in_quotes(text) + " is no NAMESPACE/NAME of a service account");
}

Result<ServiceAccountToken> request_service_account_token(
    HubClient& hub, const ServiceAccountTokenRequest& request) {
  TRY(check_names(request));
  const std::string noun(hub.hub().noun);
  json::Value created = TRY(hub.create({.version = "v1",
                                        .resource = "serviceaccounts",
                                        .name_space = request.name_space,
                                        .name = request.name,
                                        .subresource = "token"},
                                       body_of(request)));
  const json::SecretValue reply(std::move(created));
  Result<ServiceAccountToken> token = read_token(*reply, request.audiences, noun);
  if (!token) {
    // A wrong reply is the hub's fault, not an error of the configuration.
    token.error().kind = Error::Kind::no_credential;
  }
  return std::move(token).context("reading " + noun + "'s reply to a TokenRequest for " +
                                  in_quotes(request.name_space + "/" + request.name));
}

}  // namespace execcred

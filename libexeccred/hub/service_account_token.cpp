// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/service_account_token.hpp>

#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kVersion = "authentication.k8s.io/v1";
constexpr std::string_view kKind = "TokenRequest";
constexpr std::string_view kLifetime = "3600";  // seconds; the API allows no less than 600

Error wrong(std::string message) {
  return Error{.kind = Error::Kind::configuration, .message = std::move(message)};
}

Error rejected(std::string message) {
  return Error{.kind = Error::Kind::no_credential, .message = std::move(message)};
}

Status check_names(std::string_view name_space, std::string_view name, std::string_view audience) {
  if (!is_dns1123_label(name_space)) {
    return wrong(in_quotes(name_space) + " cannot be the namespace of a service account");
  }
  if (!is_dns1123_subdomain(name)) {
    return wrong(in_quotes(name) + " cannot be the name of a service account");
  }
  if (audience.empty()) return wrong("a service account's token needs an audience");
  if (has_control_character(audience)) {
    return wrong("the audience " + in_quotes(audience) + " has a control character");
  }
  return {};
}

json::Value request_for(std::string_view audience) {
  json::Value spec;
  spec.add("audiences", json::Value(json::Array{json::Value(audience)}));
  spec.add("expirationSeconds", json::Value(json::Number{.text = std::string(kLifetime)}));
  json::Value request;
  request.add("apiVersion", json::Value(kVersion));
  request.add("kind", json::Value(kKind));
  request.add("spec", std::move(spec));
  return request;
}

Result<UnverifiedClaims> claims_for(const SecretString& token, std::string_view audience) {
  std::optional<UnverifiedClaims> claims = TRY(unverified_claims(token));
  if (!claims) return rejected("the hub's token is no JWT");
  const std::vector<std::string>& audiences = claims->audiences;
  if (std::find(audiences.begin(), audiences.end(), audience) == audiences.end()) {
    return rejected("the hub's token is not for the audience " + in_quotes(audience) +
                    ", but for " + (audiences.empty() ? "none" : in_quotes(join(audiences, ", "))));
  }
  return *std::move(claims);
}

Result<ServiceAccountToken> read_token(const json::Value& reply, std::string_view audience) {
  const json::ObjectReader reader = TRY(json::ObjectReader::open(reply, ""));
  const std::string kind = TRY(reader.required_string("kind"));
  if (kind != kKind) return rejected("it is a " + in_quotes(kind) + ", no " + std::string(kKind));
  const json::ObjectReader status = TRY(reader.required_object("status"));
  std::string text = TRY(status.required_string("token"));
  const SecretString content(text);
  wipe(text);
  // Trimming would hide that it is not one word.
  if (!is_visible_ascii(content.reveal())) return rejected("its token is not one word");
  ServiceAccountToken found;
  found.token = TRY(bearer_token(content));
  const std::optional<std::string> end = TRY(status.optional_string("expirationTimestamp"));
  if (end) {
    found.expires_at = TRY(parse_rfc3339(*end).context("reading status.expirationTimestamp"));
  }
  const UnverifiedClaims claims = TRY(claims_for(found.token, audience));
  if (claims.expires_at && (!found.expires_at || *claims.expires_at < *found.expires_at)) {
    found.expires_at = claims.expires_at;
  }
  return found;
}

}  // namespace

Result<ServiceAccountToken> request_service_account_token(HubClient& hub,
                                                          std::string_view name_space,
                                                          std::string_view name,
                                                          std::string_view audience) {
  TRY(check_names(name_space, name, audience));
  json::Value reply = TRY(hub.create({.version = "v1",
                                      .resource = "serviceaccounts",
                                      .name_space = std::string(name_space),
                                      .name = std::string(name),
                                      .subresource = "token"},
                                     request_for(audience)));
  Result<ServiceAccountToken> token = read_token(reply, audience);
  json::wipe(reply);
  // What is wrong with a reply is the hub's doing, and nobody's here.
  if (!token) token.error().kind = Error::Kind::no_credential;
  return std::move(token).context("reading the hub's reply to a TokenRequest for " +
                                  in_quotes(std::string(name_space) + "/" + std::string(name)));
}

}  // namespace execcred

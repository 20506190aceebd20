// SPDX-License-Identifier: Apache-2.0
#include "authentication_config.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/os/file.hpp>
#include <execcred/yaml/documents.hpp>

#include <algorithm>
#include <utility>

namespace execcred::doctor {
namespace {

using json::ObjectReader;

constexpr std::size_t kMaxConfig = 1024 * 1024;

Status add_expression(const ObjectReader& object, JwtAuthenticator& authenticator) {
  std::string expression = TRY(object.string_or_empty("expression"));
  if (!expression.empty()) authenticator.expressions.push_back(std::move(expression));
  return {};
}

Status read_username(const ObjectReader& entry, JwtAuthenticator& authenticator) {
  const std::optional<ObjectReader> mappings = TRY(entry.optional_object("claimMappings"));
  if (!mappings) return {};
  const std::optional<ObjectReader> username = TRY(mappings->optional_object("username"));
  if (!username) return {};
  authenticator.username_claim = TRY(username->string_or_empty("claim"));
  authenticator.username_prefix = TRY(username->string_or_empty("prefix"));
  return add_expression(*username, authenticator);
}

Result<JwtAuthenticator> read_authenticator(const ObjectReader& entry) {
  JwtAuthenticator authenticator;
  const ObjectReader issuer = TRY(entry.required_object("issuer"));
  authenticator.issuer = TRY(issuer.required_string("url"));
  authenticator.audiences = TRY(issuer.strings("audiences"));
  TRY(read_username(entry, authenticator));
  const std::vector<ObjectReader> rules = TRY(entry.objects("claimValidationRules"));
  for (const ObjectReader& rule : rules) {
    std::string claim = TRY(rule.string_or_empty("claim"));
    std::string value = TRY(rule.string_or_empty("requiredValue"));
    if (!claim.empty()) {
      authenticator.required.push_back({.claim = std::move(claim), .value = std::move(value)});
    }
    TRY(add_expression(rule, authenticator));
  }
  const std::vector<ObjectReader> user_rules = TRY(entry.objects("userValidationRules"));
  for (const ObjectReader& rule : user_rules) TRY(add_expression(rule, authenticator));
  return authenticator;
}

std::string listed(const std::vector<std::string>& texts) {
  std::vector<std::string> shown;
  shown.reserve(texts.size());
  for (const std::string& text : texts) shown.push_back(in_quotes(text));
  return shown.empty() ? "none" : join(shown, ", ");
}

const std::string* claim_text(const json::Value& payload, const std::string& name) {
  const json::Value* const value = payload.find(name);
  return value == nullptr ? nullptr : value->string();
}

Mismatch compare_claims(const JwtAuthenticator& authenticator, const json::Value& payload) {
  for (const JwtAuthenticator::Required& required : authenticator.required) {
    const std::string* const text = claim_text(payload, required.claim);
    if (text != nullptr && *text == required.value) continue;
    return {.kind = Mismatch::Kind::other,
            .message = "the server demands the claim " + in_quotes(required.claim) + " to be " +
                       in_quotes(required.value) + ", and it is " +
                       (text == nullptr ? "not there" : in_quotes(*text))};
  }
  const std::string& username = authenticator.username_claim;
  if (!username.empty() && claim_text(payload, username) == nullptr) {
    return {.kind = Mismatch::Kind::other,
            .message = "the server takes the user's name from the claim " + in_quotes(username) +
                       ", which the token does not have"};
  }
  const json::Value* const verified = payload.find("email_verified");
  if (username == "email" && verified != nullptr &&
      (verified->boolean() == nullptr || !*verified->boolean())) {
    return {.kind = Mismatch::Kind::other,
            .message =
                "the server takes the user's name from 'email', and 'email_verified' is not "
                "true"};
  }
  return {};
}

}  // namespace

Result<AuthenticationConfig> AuthenticationConfig::load(const std::filesystem::path& path) {
  constexpr const char* kHint =
      "it is the file that the API server gets as --authentication-config: kind "
      "AuthenticationConfiguration of apiserver.config.k8s.io";
  const auto read = [&path]() -> Result<AuthenticationConfig> {
    const std::string text = TRY(read_untrusted_file(path, kMaxConfig));
    const std::vector<json::Value> documents = TRY(parse_documents(text, kMaxConfig));
    if (documents.size() != 1) {
      return Error::configuration("it holds " + std::to_string(documents.size()) +
                                  " documents instead of one");
    }
    const ObjectReader document = TRY(ObjectReader::open(documents.front(), ""));
    const std::string kind = TRY(document.required_string("kind"));
    const std::string version = TRY(document.required_string("apiVersion"));
    if (kind != "AuthenticationConfiguration" || !version.starts_with("apiserver.config.k8s.io/")) {
      return json::field_error("kind", "is " + in_quotes(kind) + " of " + in_quotes(version));
    }
    AuthenticationConfig config;
    const std::vector<ObjectReader> entries = TRY(document.objects("jwt"));
    for (const ObjectReader& entry : entries) {
      JwtAuthenticator authenticator = TRY(read_authenticator(entry));
      config.authenticators_.push_back(std::move(authenticator));
    }
    return config;
  };
  return read().context("reading --authentication-config " + in_quotes(path.native())).hint(kHint);
}

const JwtAuthenticator* AuthenticationConfig::find(std::string_view issuer) const {
  for (const JwtAuthenticator& authenticator : authenticators_) {
    if (authenticator.issuer == issuer) return &authenticator;
  }
  return nullptr;
}

std::vector<std::string> AuthenticationConfig::issuers() const {
  std::vector<std::string> issuers;
  for (const JwtAuthenticator& authenticator : authenticators_) {
    issuers.push_back(authenticator.issuer);
  }
  return issuers;
}

bool is_service_account(const UnverifiedClaims& claims) {
  return claims.subject.starts_with("system:serviceaccount:");
}

Mismatch compare(const AuthenticationConfig& config, const UnverifiedClaims& claims,
                 const json::Value& payload) {
  const JwtAuthenticator* const authenticator = config.find(claims.issuer);
  if (authenticator == nullptr) {
    // The cluster's own issuer is not in the file.
    if (is_service_account(claims)) return {};
    return {.kind = Mismatch::Kind::issuer,
            .message = "the token's issuer is " + in_quotes(claims.issuer) +
                       ", and the server accepts tokens of " + listed(config.issuers()),
            .hint =
                "add the issuer to the server's authentication configuration, exactly as the token "
                "has it"};
  }
  const bool has_audience = std::any_of(
      claims.audiences.begin(), claims.audiences.end(), [authenticator](const std::string& one) {
        const auto& audiences = authenticator->audiences;
        return std::find(audiences.begin(), audiences.end(), one) != audiences.end();
      });
  if (!has_audience) {
    return {.kind = Mismatch::Kind::audience,
            .message = "the token's audience is " + listed(claims.audiences) +
                       ", and the server takes " + listed(authenticator->audiences),
            .hint =
                "request a token for that audience, or add this one to the server's authentication "
                "configuration"};
  }
  Mismatch mismatch = compare_claims(*authenticator, payload);
  if (!authenticator->expressions.empty()) {
    mismatch.hint = "the server's rules, which are not evaluated here: " +
                    join(authenticator->expressions, "; ");
  }
  return mismatch;
}

}  // namespace execcred::doctor

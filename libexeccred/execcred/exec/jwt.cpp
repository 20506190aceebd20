// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/jwt.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace execcred {
namespace {

using std::chrono::seconds;

constexpr seconds kClockSkew(60);
// The last whole second that a TimePoint can hold. Its negative is the first.
constexpr std::int64_t kLastWholeSecond = 9'223'372'036;
constexpr double kLastSecond = 9'223'372'036;

// Reads a whole number of seconds, the usual form. The general parser takes a tenth of the time of
// a run.
std::optional<std::int64_t> plain_seconds(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = problem == std::errc() && end == text.data() + text.size();
  if (!is_whole || value > kLastWholeSecond || value < -kLastWholeSecond) return std::nullopt;
  return value;
}

// NumericDate, RFC 7519 section 2: a number, perhaps with a fraction.
Result<std::optional<TimePoint>> numeric_date(const json::Value& claims, std::string_view name) {
  const json::Value* value = claims.find(name);
  if (value == nullptr) return std::optional<TimePoint>();
  const json::Number* number = value->number();
  if (number == nullptr) {
    return Error::no_credential("the token's " + in_quotes(name) + " claim is " +
                                std::string(value->kind()) + ", not a number");
  }
  if (const std::optional<std::int64_t> whole = plain_seconds(number->text)) {
    return std::optional(TimePoint(seconds(*whole)));
  }
  const double exact = std::strtod(number->text.c_str(), nullptr);
  if (!std::isfinite(exact)) {
    return Error::no_credential("the token's " + in_quotes(name) +
                                " claim is a number that is too large");
  }
  // Rounds down to whole seconds without libm, because the loader would map libm for this alone.
  const double bounded = std::clamp(exact, -kLastSecond, kLastSecond);
  auto whole = static_cast<std::int64_t>(bounded);
  if (static_cast<double>(whole) > bounded) --whole;
  return std::optional(TimePoint(seconds(whole)));
}

Result<UnverifiedClaims> read_claims(const json::Value& document) {
  UnverifiedClaims claims;
  claims.expires_at = TRY(numeric_date(document, "exp"));
  claims.not_before = TRY(numeric_date(document, "nbf"));
  if (const json::Value* audience = document.find("aud"); audience && !audience->is_null()) {
    claims.audiences = TRY(json::read_strings(*audience, "the token's 'aud' claim"));
  }
  claims.issuer = json::text_or_empty(document, "iss");
  claims.subject = json::text_or_empty(document, "sub");
  claims.has_id = document.find("jti") != nullptr;
  return claims;
}

Result<json::Value> parse_payload(std::string_view encoded) {
  const std::optional<std::string> payload = decode_base64url(encoded);
  if (!payload) return Error::no_credential("the token's claims are not base64url");
  Result<json::Value> document = json::parse(*payload);
  if (!document)
    return Error::no_credential("the JSON of the token's claims " + document.error().message);
  if (document->object() == nullptr)
    return Error::no_credential("the token's claims are no JSON object");
  return document;
}

// The result, whose error is one of the token.
template <typename T>
Result<T> of_token(Result<T> result) {
  if (result) return result;
  result.error().kind = Error::Kind::no_credential;
  return std::move(result).hint("the program that made the token must correct it");
}

Result<Jwt> parse_parts(std::string_view header_text, std::string_view encoded_claims) {
  Result<json::Value> header = json::parse(header_text);
  if (!header)
    return Error::no_credential("the JSON of the token's header " + header.error().message);
  json::Value claims = TRY(parse_payload(encoded_claims));
  return Jwt{.header = std::move(header).value(), .claims = std::move(claims)};
}

// Removes the members with these names.
void remove_members(std::initializer_list<std::string_view> names, json::Object& members) {
  std::erase_if(members, [&names](const json::Member& member) {
    return std::find(names.begin(), names.end(), member.name) != names.end();
  });
}

void sort_members(json::Value& value) {
  if (json::Array* const items = value.array()) {
    for (json::Value& item : *items) sort_members(item);
  }
  json::Object* const members = value.object();
  if (members == nullptr) return;
  for (json::Member& member : *members) sort_members(member.value);
  std::sort(members->begin(), members->end(),
            [](const json::Member& a, const json::Member& b) { return a.name < b.name; });
}

// The audiences are a set, which one string or an array represents (RFC 7519, section 4.1.3).
Status sort_audiences(json::Value& audience) {
  if (audience.is_null()) return {};
  std::vector<std::string> texts = TRY(json::read_strings(audience, "the token's 'aud' claim"));
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  json::Array sorted;
  for (std::string& text : texts) sorted.emplace_back(std::move(text));
  audience = json::Value(std::move(sorted));
  return {};
}

Result<TokenIdentity> read_identity(json::Value document) {
  json::Object& claims = *document.object();
  remove_members({"exp", "iat", "nbf", "jti"}, claims);
  for (json::Member& claim : claims) {
    if (claim.name == "aud") TRY(sort_audiences(claim.value));
    json::Object* const members = claim.value.object();
    if (claim.name == "kubernetes.io" && members != nullptr) {
      remove_members({"pod", "warnafter"}, *members);
    }
  }
  sort_members(document);
  return TokenIdentity{.issuer = json::text_or_empty(document, "iss"),
                       .subject = json::text_or_empty(document, "sub"),
                       .claims = json::to_text(document)};
}

}  // namespace

Result<std::optional<Jwt>> parse_jwt(const SecretString& token) {
  const std::vector<std::string_view> parts = split(token.reveal(), '.');
  const std::optional<std::string> header =
      parts.size() == 3 ? decode_base64url(parts[0]) : std::nullopt;
  if (!header || !trim(*header).starts_with('{')) return std::optional<Jwt>();
  Jwt jwt = TRY(of_token(parse_parts(*header, parts[1])));
  return std::optional(std::move(jwt));
}

Result<UnverifiedClaims> unverified_claims(const Jwt& jwt) {
  UnverifiedClaims claims = TRY(of_token(read_claims(jwt.claims)));
  claims.key_id = json::text_or_empty(jwt.header, "kid");
  claims.algorithm = json::text_or_empty(jwt.header, "alg");
  if (jwt.header.find("typ") != nullptr) claims.type = json::text_or_empty(jwt.header, "typ");
  return claims;
}

Result<std::optional<UnverifiedClaims>> unverified_claims(const Result<std::optional<Jwt>>& jwt) {
  if (!jwt) return jwt.error();
  if (!*jwt) return std::optional<UnverifiedClaims>();
  UnverifiedClaims claims = TRY(unverified_claims(**jwt));
  return std::optional(std::move(claims));
}

Result<std::optional<UnverifiedClaims>> unverified_claims(const SecretString& token) {
  return unverified_claims(parse_jwt(token));
}

Result<TokenIdentity> token_identity(const Jwt& jwt) { return of_token(read_identity(jwt.claims)); }

bool is_single_use(const SecretString& assertion) {
  const Result<std::optional<UnverifiedClaims>> claims = unverified_claims(assertion);
  return !claims || !*claims || (*claims)->has_id;
}

bool has_any_audience(const UnverifiedClaims& claims, const std::vector<std::string>& audiences) {
  std::vector<std::string_view> sorted(claims.audiences.begin(), claims.audiences.end());
  std::sort(sorted.begin(), sorted.end());
  return std::any_of(audiences.begin(), audiences.end(), [&sorted](std::string_view audience) {
    return std::binary_search(sorted.begin(), sorted.end(), audience);
  });
}

Status check_audience(const std::optional<UnverifiedClaims>& claims, std::string_view option,
                      const std::vector<std::string>& wanted) {
  if (wanted.empty()) return {};
  const std::string name(option);
  Error error = {.kind = Error::Kind::no_credential, .cause = cause::kCredentialWrongAudience};
  if (!claims) {
    error.message = name + " cannot be checked: the token is no JWT";
    error.hint = "leave " + name + " out for opaque tokens";
    return error;
  }
  if (has_any_audience(*claims, wanted)) return {};
  const std::vector<std::string>& found = claims->audiences;
  error.message = "the token is for " + (found.empty() ? "nobody" : quoted_list(found)) +
                  ", not for " + quoted_list(wanted);
  error.hint = name + " demands it";
  return error;
}

Status check_audience(const SecretString& token, std::string_view option,
                      const std::vector<std::string>& wanted) {
  if (wanted.empty()) return {};
  if (token.empty()) {
    const std::string name(option);
    return Error{.kind = Error::Kind::no_credential,
                 .message = name + " cannot be checked: the credential is a certificate",
                 .hint = "leave " + name + " out for certificates",
                 .cause = cause::kCredentialWrongAudience};
  }
  const std::optional<UnverifiedClaims> claims = TRY(unverified_claims(token));
  return check_audience(claims, option, wanted);
}

Status check_lifetime(const UnverifiedClaims& claims, TimePoint now) {
  const auto whole = [](TimePoint time) {
    return format_rfc3339(std::chrono::floor<seconds>(time));
  };
  if (claims.expires_at && *claims.expires_at <= now) {
    return Error::no_credential("the token has expired: it ended at " + whole(*claims.expires_at));
  }
  if (claims.not_before && *claims.not_before > now + kClockSkew) {
    return Error{.kind = Error::Kind::no_credential,
                 .message = "the token is not valid yet: it begins at " + whole(*claims.not_before),
                 .hint = "check this machine's clock",
                 .cause = cause::kCredentialNotYetValid};
  }
  return {};
}

Status of_source(Status checked) {
  return std::move(checked)
      .hint("check that whatever renews it is still running, and this machine's clock")
      .cause(cause::kSourceExpired);
}

Status check_source_lifetime(const SecretString& token, TimePoint now) {
  const std::optional<UnverifiedClaims> claims = TRY(unverified_claims(token));
  return claims ? of_source(check_lifetime(*claims, now)) : Status();
}

Status check_token(const std::optional<UnverifiedClaims>& claims, TimePoint now,
                   Credential& credential) {
  if (!claims) return {};
  TRY(check_lifetime(*claims, now));
  if (!claims->expires_at) return {};
  credential.expires_at =
      std::min(*claims->expires_at, credential.expires_at.value_or(*claims->expires_at));
  return {};
}

}  // namespace execcred

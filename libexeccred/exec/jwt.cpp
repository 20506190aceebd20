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
#include <utility>

namespace execcred {
namespace {

using std::chrono::seconds;

constexpr seconds kClockSkew(60);
// The last whole second that a TimePoint can hold. Its negative is the first.
constexpr std::int64_t kLastWholeSecond = 9'223'372'036;
constexpr double kLastSecond = 9'223'372'036;

Error rejected(std::string message) {
  return Error{.kind = Error::Kind::no_credential, .message = std::move(message)};
}

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
    return rejected("the token's " + in_quotes(name) + " claim is " + std::string(value->kind()) +
                    ", not a number");
  }
  if (const std::optional<std::int64_t> whole = plain_seconds(number->text)) {
    return std::optional(TimePoint(seconds(*whole)));
  }
  const double exact = std::strtod(number->text.c_str(), nullptr);
  if (!std::isfinite(exact)) {
    return rejected("the token's " + in_quotes(name) + " claim is a number that is too large");
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
  if (!payload) return rejected("the token's claims are not base64url");
  Result<json::Value> document = json::parse(*payload);
  if (!document) return rejected("the JSON of the token's claims " + document.error().message);
  if (document->object() == nullptr) return rejected("the token's claims are no JSON object");
  return document;
}

Result<UnverifiedClaims> parse_claims(std::string_view encoded) {
  const json::Value document = TRY(parse_payload(encoded));
  return read_claims(document);
}

// RFC 7516, section 7.1: the compact form of a JWE has five parts, which may be empty.
bool is_jwe(const json::Value& header, const std::vector<std::string_view>& parts) {
  return parts.size() == 5 && header.find("enc") != nullptr &&
         std::all_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return decode_base64url(part).has_value(); });
}

Status check_parts(const std::vector<std::string_view>& parts) {
  const std::optional<std::string> text = decode_base64url(parts.front());
  const Result<json::Value> header = json::parse(text.value_or(""));
  if (!header || header->object() == nullptr) return rejected("its header is no JSON object");
  if (is_jwe(*header, parts)) return {};
  if (parts.size() != 3) return rejected("it does not have three parts");
  TRY(parse_payload(parts[1]));
  const bool is_signed = json::text_or_empty(*header, "alg") != "none";
  if (!decode_base64url(parts[2]) || (is_signed && parts[2].empty())) {
    return rejected("its signature is cut or damaged");
  }
  return {};
}

}  // namespace

Result<std::optional<UnverifiedClaims>> unverified_claims(const SecretString& token) {
  const std::vector<std::string_view> parts = split(token.reveal(), '.');
  const std::optional<std::string> header =
      parts.size() == 3 ? decode_base64url(parts[0]) : std::nullopt;
  if (!header || !trim(*header).starts_with('{')) return std::optional<UnverifiedClaims>();
  const Result<json::Value> document = json::parse(*header);
  Result<UnverifiedClaims> claims =
      document ? parse_claims(parts[1])
               : rejected("the JSON of the token's header " + document.error().message);
  if (claims) {
    claims->key_id = json::text_or_empty(*document, "kid");
    claims->algorithm = json::text_or_empty(*document, "alg");
    if (document->find("typ") != nullptr) claims->type = json::text_or_empty(*document, "typ");
    return std::optional(std::move(claims).value());
  }
  claims.error().kind = Error::Kind::no_credential;
  return std::move(claims)
      .hint("the program that made the token must correct it")
      .error();
}

Status check_whole(const SecretString& token) {
  if (!token.reveal().starts_with("eyJ")) return {};
  Status whole = check_parts(split(token.reveal(), '.'));
  if (whole) return {};
  return Error{.kind = Error::Kind::no_credential,
               .message = "the token begins as a JWT does, but is none: " + whole.error().message,
               .hint =
                   "it may have been read half written: try again; a program that renews a "
                   "token file must write a new file and rename it"};
}

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

Status check_lifetime(const UnverifiedClaims& claims, TimePoint now) {
  const auto whole = [](TimePoint time) {
    return format_rfc3339(std::chrono::floor<seconds>(time));
  };
  if (claims.expires_at && *claims.expires_at <= now) {
    return Error{.kind = Error::Kind::no_credential,
                 .message = "the token has expired: it ended at " + whole(*claims.expires_at),
                 .hint = "check that whatever renews it is still running, and this machine's clock",
                 .cause = cause::kSourceExpired};
  }
  if (claims.not_before && *claims.not_before > now + kClockSkew) {
    return Error{.kind = Error::Kind::no_credential,
                 .message = "the token is not valid yet: it begins at " + whole(*claims.not_before),
                 .hint = "check this machine's clock",
                 .cause = cause::kCredentialNotYetValid};
  }
  return {};
}

Status check_lifetime(const SecretString& token, TimePoint now) {
  const std::optional<UnverifiedClaims> claims = TRY(unverified_claims(token));
  return claims ? check_lifetime(*claims, now) : Status();
}

}  // namespace execcred

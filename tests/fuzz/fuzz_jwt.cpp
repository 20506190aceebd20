// SPDX-License-Identifier: Apache-2.0
// The claims of a token, compared with nlohmann/json. The input is used as a token, and again as
// the claims of a token.
#include "fuzz.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/exec/jwt.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

std::string base64url(std::string_view bytes) {
  std::string text = encode_base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::string text_of(const nlohmann::json& claims, const char* name) {
  return claims.contains(name) && claims[name].is_string() ? claims[name].get<std::string>() : "";
}

void check_date(const nlohmann::json& claims, const char* name,
                const std::optional<TimePoint>& ours) {
  require(ours.has_value() == claims.contains(name), "a time where the claim is");
  if (!ours) return;
  require(claims[name].is_number(), "the claim is a number");
  const double limit = 9'223'372'036;
  const double wanted = std::clamp(std::floor(claims[name].get<double>()), -limit, limit);
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::seconds>(ours->time_since_epoch());
  require(since_epoch.count() == static_cast<std::int64_t>(wanted), "the second of the claim");
}

void check_audiences(const nlohmann::json& claims, const std::vector<std::string>& ours) {
  std::vector<std::string> wanted;
  const auto claim = claims.find("aud");
  if (claim != claims.end() && claim->is_string()) wanted = {claim->get<std::string>()};
  if (claim != claims.end() && claim->is_array()) wanted = claim->get<std::vector<std::string>>();
  require(ours == wanted, "the audiences of the claim");
}

void check_lifetimes(const UnverifiedClaims& claims, TimePoint now) {
  constexpr std::chrono::seconds kSkew(60);
  const bool has_ended = claims.expires_at && *claims.expires_at <= now;
  const bool is_early = claims.not_before && *claims.not_before > now + kSkew;
  require(check_lifetime(claims, now).has_value() == (!has_ended && !is_early),
          "good from nbf, but for the skew, until exp");
}

Result<std::optional<UnverifiedClaims>> read(const std::string& token) {
  Result<std::optional<UnverifiedClaims>> claims = unverified_claims(SecretString(token));
  require(claims || claims.error().kind == Error::Kind::no_credential,
          "a malformed token is no credential");
  return claims;
}

void check_payload(std::string_view payload) {
  const auto ours = read(base64url(R"({"alg":"none"})") + "." + base64url(payload) + ".c2ln");
  if (!ours) return;
  require(ours->has_value(), "a JWT is no opaque token");
  const nlohmann::json theirs = nlohmann::json::parse(payload, nullptr, false);
  // Unread claims may contain numbers that no double can hold.
  if (theirs.is_discarded() && payload.find_first_of("0123456789") != std::string_view::npos)
    return;
  require(theirs.is_object(), "the claims are an object");
  check_date(theirs, "exp", (*ours)->expires_at);
  check_date(theirs, "nbf", (*ours)->not_before);
  check_audiences(theirs, (*ours)->audiences);
  require((*ours)->issuer == text_of(theirs, "iss"), "the issuer of the claim");
  require((*ours)->subject == text_of(theirs, "sub"), "the subject of the claim");
  for (const std::int64_t now :
       {std::int64_t{0}, std::int64_t{1'782'907'200}, number_from(payload)}) {
    check_lifetimes(**ours, TimePoint(std::chrono::seconds(now % 9'000'000'000)));
  }
}

}  // namespace

void check(std::string_view input) {
  const std::string token(input);
  const auto claims = read(token);
  const bool is_jwt_like = std::count(token.begin(), token.end(), '.') == 2;
  require(is_jwt_like || (claims.has_value() && !claims->has_value()),
          "only three parts are a JWT, all else is opaque");
  check_payload(input);
}

}  // namespace execcred::fuzz

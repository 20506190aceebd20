// SPDX-License-Identifier: Apache-2.0
#include "pass_through.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/jwt.hpp>

#include <optional>
#include <utility>

namespace execcred::oidc_federation {
namespace {

std::string quoted(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  parts.reserve(texts.size());
  for (const std::string& text : texts) parts.push_back(in_quotes(text));
  return parts.empty() ? "nobody" : join(parts, ", ");
}

Status check_audience(const std::optional<UnverifiedClaims>& claims, std::string_view option,
                      const std::vector<std::string>& wanted) {
  if (wanted.empty()) return {};
  if (!claims) {
    return Error::no_credential(std::string(option) + " cannot be checked: the token is no JWT",
                                "leave " + std::string(option) + " out for opaque tokens");
  }
  if (has_any_audience(*claims, wanted)) return {};
  return Error::no_credential(
      "the token is for " + quoted(claims->audiences) + ", not for " + quoted(wanted),
      std::string(option) + " demands it");
}

}  // namespace

Result<Credential> pass_through(SecretString token, const std::vector<std::string>& audiences,
                                const std::vector<std::string>& expected, TimePoint now) {
  const std::optional<UnverifiedClaims> claims = TRY(unverified_claims(token));
  if (!claims) {
    return Error::no_credential(
        "the subject token is no JWT",
        "a cluster's structured authentication takes JWTs alone; for another token there "
        "is execcred-token-file");
  }
  TRY(check_lifetime(*claims, now));
  TRY(check_audience(claims, "--audience", audiences));
  TRY(check_audience(claims, "--expect-audience", expected));
  return Credential{.token = std::move(token), .expires_at = claims->expires_at};
}

Status check_expected_audience(const SecretString& token,
                               const std::vector<std::string>& expected) {
  if (expected.empty()) return {};
  const std::optional<UnverifiedClaims> claims = TRY(unverified_claims(token));
  return check_audience(claims, "--expect-audience", expected);
}

}  // namespace execcred::oidc_federation

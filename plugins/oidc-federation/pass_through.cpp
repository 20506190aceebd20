// SPDX-License-Identifier: Apache-2.0
#include "pass_through.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/jwt.hpp>

#include <optional>
#include <utility>

namespace execcred::oidc_federation {
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

}  // namespace execcred::oidc_federation

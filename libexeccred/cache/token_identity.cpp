// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/token_identity.hpp>

#include <execcred/base/fingerprint.hpp>
#include <execcred/exec/jwt.hpp>

#include <optional>
#include <string>

namespace execcred {

void add_token_identity(std::string_view name, const SecretString& token, CacheKey& key) {
  const std::string prefix = std::string(name) + ".";
  const Result<std::optional<UnverifiedClaims>> claims = unverified_claims(token);
  if (!claims || !claims->has_value() || (*claims)->issuer.empty() || (*claims)->subject.empty()) {
    key.add(prefix + "fingerprint", fingerprint(name, token.reveal()));
    return;
  }
  key.add(prefix + "iss", (*claims)->issuer).add(prefix + "sub", (*claims)->subject);
  for (const std::string& audience : (*claims)->audiences) key.add(prefix + "aud", audience);
}

}  // namespace execcred

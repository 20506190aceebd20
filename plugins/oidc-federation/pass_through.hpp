// SPDX-License-Identifier: Apache-2.0
// Returns the subject token itself as the credential, for clusters whose structured authentication
// trusts its issuer. The token is checked first, so that a misconfiguration causes a message and
// not a 401.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <string>
#include <vector>

namespace execcred::oidc_federation {

// Each list of audiences, unless empty, must contain one of the token's audiences. Fails
// (no_credential) for another audience, for a token that is not a JWT, and for one that has expired
// or is not valid yet.
Result<Credential> pass_through(SecretString token, const std::vector<std::string>& audiences,
                                const std::vector<std::string>& expected, TimePoint now);

}  // namespace execcred::oidc_federation

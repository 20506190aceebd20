// SPDX-License-Identifier: Apache-2.0
// The subject token itself as the credential, for clusters whose structured authentication trusts
// its issuer. It is checked first, so that a misconfiguration is a message and not a 401.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <string>
#include <vector>

namespace execcred::oidc_federation {

// Each list of audiences, unless empty, must contain one of the token. Fails (no_credential) for
// another audience, a token that is no JWT, and one that has ended or not begun.
Result<Credential> pass_through(SecretString token, const std::vector<std::string>& audiences,
                                const std::vector<std::string>& expected, TimePoint now);

// The check of --expect-audience for any token.
Status check_expected_audience(const SecretString& token, const std::vector<std::string>& expected);

}  // namespace execcred::oidc_federation

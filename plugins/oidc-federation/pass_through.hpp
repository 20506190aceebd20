// SPDX-License-Identifier: Apache-2.0
// The subject token itself as the credential, for clusters whose structured authentication trusts
// its issuer. Looked at first, so that a misconfiguration is a message and not a 401.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <string>
#include <vector>

namespace execcred::oidc_federation {

// Each list of audiences, unless empty, must have one that the token is for. Fails (no_credential)
// for that, a token that is no JWT, and one whose time is over or to come.
Result<Credential> pass_through(SecretString token, const std::vector<std::string>& audiences,
                                const std::vector<std::string>& expected, TimePoint now);

// What --expect-audience asks of any token.
Status check_expected_audience(const SecretString& token, const std::vector<std::string>& expected);

}  // namespace execcred::oidc_federation

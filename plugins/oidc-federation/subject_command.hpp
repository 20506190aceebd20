// SPDX-License-Identifier: Apache-2.0
// A subject token that another program prints.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/inputs.hpp>

namespace execcred::oidc_federation {

// Reads the machine and the program's environment, which may determine the identity.
void plan_command(Inputs& inputs);

// Fails as run_token_command() does, and (no_credential) if the program prints no token.
Result<SecretString> run_subject_command(const InnerCommand& command, const CallContext& call);

}  // namespace execcred::oidc_federation

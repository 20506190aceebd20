// SPDX-License-Identifier: Apache-2.0
// The plugin that gives the bootstrap credential.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/sources/token_command.hpp>

namespace execcred::bootstrap {

// Runs it with our environment, the client's document and an empty standard input. Its standard
// error goes to the debug log, and the error of a failure into ours. Its credential is checked
// before use: version, end, and that certificate and key belong together.
//
// Fails as the program does: exit codes 1, 2, 3 and 70 are those of our kinds, any other and a
// signal is no_credential. Also with configuration (it cannot be started), unavailable (still
// running at the end of the call) and no_credential (what it printed is no such credential).
Result<Credential> run_inner_plugin(const TokenCommand& command, const CredentialRequest& request,
                                    const CallContext& call);

}  // namespace execcred::bootstrap

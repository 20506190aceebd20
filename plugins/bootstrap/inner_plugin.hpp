// SPDX-License-Identifier: Apache-2.0
// Runs the plugin that provides the bootstrap credential.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/provider.hpp>

namespace execcred::bootstrap {

// Runs the plugin with this process's environment, the client's document and an empty standard
// input. Its standard error goes to the debug log; if it fails, its error becomes part of the error
// here. Its credential is checked before use: the version, the expiry, and that certificate and key
// belong together.
//
// Fails as the program does: exit codes 1, 2, 3 and 70 have their kinds in execcred, any other code
// and a signal are no_credential. Also fails with configuration (it cannot be started), unavailable
// (it is still running at the end of the call) and no_credential (its output is not such a
// credential).
Result<Credential> run_inner_plugin(const InnerCommand& command, const CredentialRequest& request,
                                    const CallContext& call);

}  // namespace execcred::bootstrap

// SPDX-License-Identifier: Apache-2.0
// credential_process: a program that prints credentials as JSON. It is the controller's own
// configuration, in a file that no other user could have written.
#pragma once

#include <execcred/aws/credentials.hpp>
#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/inner_program.hpp>

#include <string>

namespace execcred::aws {

// Splits and unquotes the text into words as a POSIX shell does; nothing is expanded, and no shell
// is run. The first word must be an absolute path. Fails (configuration); the message does not
// quote text that may contain a secret.
Result<InnerCommand> parse_credential_process(const std::string& text);

// Fails as run_token_command() does, and (no_credential) if the output is malformed or its Version
// is not 1.
Result<AwsCredentials> run_credential_process(const InnerCommand& command, const CallContext& call);

}  // namespace execcred::aws

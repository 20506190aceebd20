// SPDX-License-Identifier: Apache-2.0
// Tokens that a program prints.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <string>
#include <vector>

namespace execcred {

struct TokenCommand {
  std::string program = {};  // absolute
  std::vector<std::string> arguments = {};
};

// Parses a JSON array of strings, the first of which is an absolute path. Fails (configuration).
Result<TokenCommand> parse_token_command(const std::string& text);

// How long a program of the call may run. This is less than the time to the run's deadline, so that
// execcred can end the program's descendants too.
Duration limit_of_command(const CallContext& call);

// The environment of the program: all variables except EXECCRED_* and KUBERNETES_EXEC_INFO, whose
// content the writer of a ClusterProfile chooses.
std::vector<std::string> environment_of_command(const Environment& environment);

// Represents that environment in a cache key, because it may determine the program's identity.
std::string environment_fingerprint(const Environment& environment);

// Returns what the program prints, at most 128 KiB. Fails with no_credential (it fails, or prints
// more), unavailable (it is still running at the end of the call, and is then ended with its
// descendants; or a shortage of this machine), configuration (it cannot be started) or internal
// (other code of this process reaped it). Messages never show what it printed.
Result<SecretString> run_token_command(const TokenCommand& command,
                                       std::vector<std::string> environment,
                                       const CallContext& call);

}  // namespace execcred

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

// A JSON array of strings, the first an absolute path. Fails (configuration).
Result<TokenCommand> parse_token_command(const std::string& text);

// How long a program of the call may run. It ends before the run's deadline, so that this code can
// end its descendants too.
Duration limit_of_command(const CallContext& call);

// The environment of the program: all variables except KUBERNETES_EXEC_INFO, which a
// ClusterProfile's writer fills, and EXECCRED_*.
std::vector<std::string> environment_of_command(const Environment& environment);

// Represents that environment in a cache key, because it may determine the program's identity.
std::string environment_fingerprint(const Environment& environment);

// What the program prints, at most 128 KiB. Fails: no_credential (it fails, or prints more),
// unavailable (still running at the end of the call, when its descendants end too), configuration
// (it cannot be started). Messages never show what it printed.
Result<SecretString> run_token_command(const TokenCommand& command,
                                       std::vector<std::string> environment,
                                       const CallContext& call);

}  // namespace execcred

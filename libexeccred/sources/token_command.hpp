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

// How long a program of the call may run: it is ended by us, and not by the end of the run, so that
// its descendants end too.
Duration limit_of_command(const CallContext& call);

// What a program gets of our environment: all but KUBERNETES_EXEC_INFO, which a ClusterProfile's
// writer fills, and EXECCRED_*.
std::vector<std::string> environment_of_command(const Environment& environment);

// Stands for that environment in a cache key, as it may well decide who the program is.
std::string environment_fingerprint(const Environment& environment);

// What the program prints, at most 128 KiB. Fails: no_credential (it fails, or prints more),
// unavailable (still running at the end of the call, when its descendants end too), configuration
// (it cannot be started). Messages never show what it printed.
Result<SecretString> run_token_command(const TokenCommand& command,
                                       std::vector<std::string> environment,
                                       const CallContext& call);

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
// Programs that a plugin runs for a credential or a part of it. What differs between them is data:
// the environment, the limits, how their exit codes count.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/os/file.hpp>

#include <optional>
#include <string>
#include <vector>

namespace execcred {

struct InnerCommand {
  std::string program = {};  // absolute
  std::vector<std::string> arguments = {};
};

// Parses a JSON array of strings, the first of which is an absolute path. Fails (configuration).
Result<InnerCommand> parse_inner_command(const std::string& text);

// The environment of a program: all variables except EXECCRED_* and KUBERNETES_EXEC_INFO, whose
// content the writer of a ClusterProfile chooses.
std::vector<std::string> environment_of_command(const Environment& environment);

// Records each variable of that environment, because it may determine the program's identity,
// except those that a shell or a terminal changes for each command. PWD counts for a program that
// runs in the caller's directory.
void add_environment(bool is_in_callers_directory, Inputs& inputs);

// KUBERNETES_EXEC_INFO=… with the client's document. A document without a version gets the version
// of this run, so that the program does not choose another one.
std::string document_for_program(const CredentialRequest& request);

struct InnerProgram {
  const InnerCommand& command;
  std::vector<std::string> environment = {};
  std::size_t max_output = kMaxSecretFile;
  std::string directory = {};      // empty: the caller's
  bool passes_exit_codes = false;  // 1, 2, 3 and 70 have their meaning in execcred; else all are 1
  bool names_causes = false;       // failures have the causes program-*
  std::string token_field = {};    // of an output in JSON that is no ExecCredential: "a.token"
};

struct InnerRun {
  SecretString output = {};
  // On standard error, the last 64 to 128 KiB, without what may be a secret or is one of the output
  // (hidden.hpp). Of a program that did not end by itself, the output is not known.
  std::string said = {};
  std::optional<Error> failure = std::nullopt;  // nullopt: it ended with 0
};

// Runs the program with an empty standard input. It ends, with its group, before the call's
// deadline, so that time remains to end its descendants too. Failures: its exit code; a signal
// (no_credential, and not remembered, because this machine may be at fault); unavailable (it was
// still running, or a shortage of this machine); configuration (it cannot be started);
// no_credential (more output than allowed); internal (other code of this process reaped it).
// Messages never show what it printed.
InnerRun run_inner_program(const InnerProgram& program, const CallContext& call);

// Runs a program that prints a token, at most 128 KiB, with this environment.
Result<SecretString> run_token_command(const InnerCommand& command,
                                       std::vector<std::string> environment,
                                       const CallContext& call);

}  // namespace execcred

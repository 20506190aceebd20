// SPDX-License-Identifier: Apache-2.0
#include <execcred/sources/token_command.hpp>

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/process.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace execcred {
namespace {

Error wrong(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::configuration, .message = std::move(message), .hint = std::move(hint)};
}

// The message does not show the output, which may contain a secret. A signal may be a fault of this
// machine, such as a lack of memory, so the failure is not cached.
Error failed(const Finished& finished, const std::string& program) {
  const bool is_signal = finished.signal != 0;
  const std::string how = is_signal ? "was ended by signal " + std::to_string(finished.signal)
                                    : "ended with exit code " + std::to_string(finished.exit_code);
  return {.kind = Error::Kind::no_credential,
          .message = in_quotes(program) + " " + how,
          .hint = "run it by hand, as this user, to see why",
          .is_local = is_signal};
}

}  // namespace

Duration limit_of_command(const CallContext& call) {
  const Duration left = call.deadline - std::chrono::steady_clock::now();
  return std::max<Duration>(left - std::min<Duration>(left / 10, std::chrono::milliseconds(100)),
                            std::chrono::milliseconds(1));
}

Result<TokenCommand> parse_token_command(const std::string& text) {
  constexpr const char* kHint = R"(like ["/usr/local/bin/get-token", "--cluster"])";
  const Result<json::Value> parsed = json::parse(text);
  if (!parsed) {
    return wrong("the command, a JSON array of strings, " + parsed.error().message, kHint);
  }
  if (parsed->array() == nullptr || parsed->array()->empty()) {
    return wrong("the command must be a JSON array of strings", kHint);
  }
  TokenCommand command;
  for (const json::Value& part : *parsed->array()) {
    if (part.string() == nullptr) return wrong("the command has a part that is no string");
    if (part.string()->find('\0') != std::string::npos) {
      return wrong("the command has a part with a NUL byte");
    }
    command.arguments.push_back(*part.string());
  }
  command.program = std::move(command.arguments.front());
  command.arguments.erase(command.arguments.begin());
  if (command.program.starts_with('/')) return command;
  return wrong("the command's program " + in_quotes(command.program) + " is no absolute path",
               "PATH is not searched: write where the program is");
}

std::vector<std::string> environment_of_command(const Environment& environment) {
  std::vector<std::string> entries = last_of_each_name(environment.entries());
  std::erase_if(entries, [](const std::string& entry) {
    return entry.starts_with("KUBERNETES_EXEC_INFO=") || entry.starts_with("EXECCRED_");
  });
  return entries;
}

// Variables that a shell changes for each command say nothing about the identity.
std::string environment_fingerprint(const Environment& environment) {
  std::vector<std::string> entries = environment_of_command(environment);
  std::erase_if(entries, [](const std::string& entry) {
    return entry.starts_with("_=") || entry.starts_with("SHLVL=") || entry.starts_with("OLDPWD=");
  });
  std::sort(entries.begin(), entries.end());
  return fingerprint("environment", entries);
}

Result<SecretString> run_token_command(const TokenCommand& command,
                                       std::vector<std::string> environment,
                                       const CallContext& call) {
  call.debug("running " + in_quotes(command.program));
  Finished finished = TRY(run_command({.path = command.program,
                                       .arguments = command.arguments,
                                       .environment = std::move(environment),
                                       .limit = limit_of_command(call),
                                       .max_output = kMaxSecretFile,
                                       .ends_with_signals = true}));
  if (finished.signal != 0 || finished.exit_code != 0) return failed(finished, command.program);
  return std::move(finished.output);
}

}  // namespace execcred

// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/inner_program.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/hidden.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/os/process.hpp>
#include <execcred/os/program_file.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kExecInfo = "KUBERNETES_EXEC_INFO=";
constexpr std::size_t kMaxSaid = 64UL * 1024;
constexpr const char* kByHand = "run it by hand, as this user, to see why";

// This is less than the time to the run's deadline, so that execcred can end the program's
// descendants too.
Duration limit_of(const CallContext& call) {
  const Duration left = call.deadline - std::chrono::steady_clock::now();
  return std::max<Duration>(left - std::min<Duration>(left / 5, std::chrono::milliseconds(250)),
                            std::chrono::milliseconds(1));
}

// Of a program that ended.
Error failure(const Finished& finished, const InnerProgram& inner) {
  const std::string name = in_quotes(inner.command.program);
  if (finished.signal != 0) {
    // It may be a fault of this machine, such as a lack of memory, so it is not cached.
    return {.kind = Error::Kind::no_credential,
            .message = name + " was ended by signal " + std::to_string(finished.signal),
            .hint = kByHand,
            .is_local = true,
            .cause = inner.names_causes ? cause::kProgramCrashed : ""};
  }
  const bool is_ours = inner.passes_exit_codes;
  return {.kind = is_ours ? kind_of_exit_code(finished.exit_code) : Error::Kind::no_credential,
          .message = name + " ended with exit code " + std::to_string(finished.exit_code),
          .hint = kByHand,
          .cause = inner.names_causes && !is_ours ? cause::kProgramFailed : ""};
}

// Names the cause of a program that could not be started, or was ended.
void name_cause(const std::string& path, Error& error) {
  if (error.kind == Error::Kind::unavailable && !error.is_local) {
    error.cause = cause::kProgramTimeout;
  } else if (error.kind == Error::Kind::no_credential) {
    error.cause = cause::kProgramOutputInvalid;
  } else if (error.kind == Error::Kind::configuration) {
    const std::optional<ProgramFault> fault = program_fault(path);
    if (!fault) return;
    error.cause = fault->cause;
    error.message = "cannot run the program: " + fault->message;
    error.hint = fault->hint.empty() ? "install it there, or correct its path" : fault->hint;
  }
}

// Adds the text. If it becomes too long, it loses its beginning, up to the end of a line, because a
// part of a secret would not be known as one.
void hear(std::string_view text, std::string& said) {
  said += text;
  if (said.size() <= 2 * kMaxSaid) return;
  const std::size_t end = said.find('\n', said.size() - kMaxSaid);
  said.erase(0, end == std::string::npos ? end : end + 1);
}

// What may be a token or a key in the output, also of a program that failed.
SecretTexts secrets_of(const SecretString& output, const std::string& token_field) {
  constexpr std::size_t kShortest = 4;  // a shorter one is also in ordinary words
  SecretTexts secrets = secrets_in(output.reveal());
  Result<json::Value> document = json::parse(output.trimmed().reveal());
  if (!document) return secrets;
  for (const std::string_view field :
       {std::string_view("status.token"), std::string_view("status.clientKeyData"),
        std::string_view(token_field)}) {
    const json::Value* const value = json::find_at(*document, field);
    const std::string* const text = value == nullptr ? nullptr : value->string();
    if (text != nullptr && text->size() >= kShortest) secrets.emplace_back(std::string_view(*text));
  }
  json::wipe(*document);
  return secrets;
}

}  // namespace

Result<InnerCommand> parse_inner_command(const std::string& text) {
  constexpr const char* kHint = R"(like ["/usr/local/bin/get-token", "--cluster"])";
  const Result<json::Value> parsed = json::parse(text);
  if (!parsed) {
    return Error::configuration("the command, a JSON array of strings, " + parsed.error().message,
                                kHint);
  }
  if (parsed->array() == nullptr || parsed->array()->empty()) {
    return Error::configuration("the command must be a JSON array of strings", kHint);
  }
  InnerCommand command;
  for (const json::Value& part : *parsed->array()) {
    if (part.string() == nullptr)
      return Error::configuration("the command has a part that is no string");
    if (part.string()->find('\0') != std::string::npos) {
      return Error::configuration("the command has a part with a NUL byte");
    }
    command.arguments.push_back(*part.string());
  }
  command.program = std::move(command.arguments.front());
  command.arguments.erase(command.arguments.begin());
  if (command.program.starts_with('/')) return command;
  return Error::configuration(
      "the command's program " + in_quotes(command.program) + " is no absolute path",
      "PATH is not searched: write where the program is");
}

std::vector<std::string> environment_of_command(const Environment& environment) {
  std::vector<std::string> entries = last_of_each_name(environment.entries());
  std::erase_if(entries, [](const std::string& entry) {
    return entry.starts_with(kExecInfo) || entry.starts_with("EXECCRED_");
  });
  return entries;
}

void add_environment(bool is_in_callers_directory, Inputs& inputs) {
  constexpr std::array<std::string_view, 6> kOfTerminal = {"PWD", "OLDPWD",  "SHLVL",
                                                           "_",   "COLUMNS", "LINES"};
  const Environment& environment =
      inputs.unrecorded_environment("what the program gets of it is recorded");
  for (const std::string& entry : environment_of_command(environment)) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    const bool is_directory = is_in_callers_directory && name == "PWD";
    const bool changes =
        std::find(kOfTerminal.begin(), kOfTerminal.end(), name) != kOfTerminal.end();
    if (changes && !is_directory) continue;
    inputs.add_secret("environment." + std::string(name),
                      std::string_view(entry).substr(name.size() + 1));
  }
}

std::string document_for_program(const CredentialRequest& request) {
  const Result<ExecInfo> as_v1 = parse_exec_info(request.document, ApiVersion::v1);
  const Result<ExecInfo> as_v1beta1 = parse_exec_info(request.document, ApiVersion::v1beta1);
  const bool names_version = as_v1 && as_v1beta1 && as_v1->version == as_v1beta1->version;
  return std::string(kExecInfo) +
         (names_version ? request.document : write_exec_info(request.info));
}

InnerRun run_inner_program(const InnerProgram& program, const CallContext& call) {
  const std::string& path = program.command.program;
  call.debug("running " + in_quotes(path));
  InnerRun run;
  Result<Finished> finished =
      run_command({.path = path,
                   .arguments = program.command.arguments,
                   .environment = program.environment,
                   .directory = program.directory,
                   .limit = limit_of(call),
                   .max_output = program.max_output,
                   .on_error_output = [&run](std::string_view text) { hear(text, run.said); },
                   .ends_with_signals = true});
  if (finished) run.output = std::move(finished->output);
  run.said = without_secrets(run.said, secrets_of(run.output, program.token_field));
  if (!finished) {
    run.failure = std::move(finished).error();
    if (program.names_causes) name_cause(path, *run.failure);
    if (run.failure->hint.empty()) run.failure->hint = kByHand;
    return run;
  }
  if (finished->signal != 0 || finished->exit_code != 0) run.failure = failure(*finished, program);
  return run;
}

Result<SecretString> run_token_command(const InnerCommand& command,
                                       std::vector<std::string> environment,
                                       const CallContext& call) {
  InnerRun run =
      run_inner_program({.command = command, .environment = std::move(environment)}, call);
  if (run.failure) return *std::move(run.failure);
  return std::move(run.output);
}

}  // namespace execcred

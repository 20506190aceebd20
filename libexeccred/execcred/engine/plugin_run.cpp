// SPDX-License-Identifier: Apache-2.0
#include <execcred/engine/plugin_run.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/exec/run_record.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/command_hint.hpp>
#include <execcred/os/process.hpp>
#include <execcred/os/program_file.hpp>

#include <chrono>
#include <cstring>
#include <utility>

namespace execcred::engine {
namespace {

constexpr std::size_t kMaxHeard = 64UL * 1024;  // of the error output

bool is_true(const json::Value* value) {
  return value != nullptr && value->boolean() != nullptr && *value->boolean();
}

std::string first_line(std::string_view text) {
  text = trim(text);
  return std::string(text.substr(0, text.find('\n')));
}

// nullopt if it is malformed.
std::optional<Error> parse_report(std::string_view text) {
  const Result<json::Value> document = json::parse(text, {.bytes = kMaxReport});
  if (!document) return std::nullopt;
  const std::optional<std::string_view> cause =
      known_cause(json::text_or_empty(*document, "cause"));
  if (!cause) return std::nullopt;
  Error error{.message = json::text_or_empty(*document, "error"),
              .hint = json::text_or_empty(*document, "hint"),
              .is_local = is_true(document->find("local")),
              .is_by_rule = is_true(document->find("rule")),
              .cause = *cause};
  const json::Value* const context = document->find("context");
  if (context == nullptr || context->array() == nullptr) return error;
  for (const json::Value& doing : *context->array())
    error.context.push_back(json::text_or_empty(&doing));
  return error;
}

// Of a program that could not be started, ran too long, or printed too much.
Error no_end(const Access& access, const std::string& path, Error error) {
  if (error.kind == Error::Kind::configuration) {
    const std::optional<ProgramFault> fault = program_fault(path);
    const bool is_missing = fault && fault->cause == cause::kProgramMissing;
    if (error.hint.empty()) {
      error.hint = missing_command_hint(is_missing ? path : "", access.exec.install_hint);
    }
    error.cause = fault ? fault->cause : cause::kProgramFailed;
  } else if (error.kind == Error::Kind::no_credential) {
    error.cause = cause::kProgramOutputInvalid;
  } else {
    const bool is_shortage = error.is_local || error.kind == Error::Kind::internal;
    error.cause = is_shortage ? cause::kProgramFailed : cause::kProgramTimeout;
  }
  return error;
}

// Of a program that ended without a credential.
Error failure(const Access& access, const Finished& finished) {
  const std::string name = in_quotes(access.exec.command);
  if (finished.signal != 0) {
    return {.kind = Error::Kind::unavailable,
            .message = name + " was ended by signal " + std::to_string(finished.signal) + " (" +
                       strsignal(finished.signal) + ")",
            .cause = cause::kProgramCrashed};
  }
  Error error{.kind = kind_of_exit_code(finished.exit_code),
              .message = name + " ended with exit code " + std::to_string(finished.exit_code),
              .cause = cause::kProgramFailed};
  const std::string said = first_line(finished.error_output);
  if (!said.empty()) error.message += ": " + said;
  take_error_output(finished.error_output, error);
  std::optional<Error> report = parse_report(finished.report);
  if (!report) return error;
  report->kind = error.kind;
  report->message = std::string(program_name(access.exec.command)) + ": " + report->message;
  return *std::move(report);
}

Result<Credential> credential_of(const Access& access, const Finished& finished) {
  if (finished.exit_code != 0 || finished.signal != 0) return failure(access, finished);
  return parse_exec_credential(finished.output.reveal(), access.exec.api_version)
      .cause(cause::kProgramOutputInvalid)
      .context("reading what " + in_quotes(access.exec.command) + " printed");
}

std::string hint_on(const PluginEnd& end, const Access& access) {
  const std::string_view cause = end.credential.error().cause;
  if (cause == cause::kProgramCrashed) {
    return "a crash is a defect of the program, unless a user or the kernel (out of memory) killed "
           "it";
  }
  if (cause == cause::kProgramTimeout && !end.has_ended) {
    return "execcred doctor --timeout=DURATION waits longer; clients wait without a limit";
  }
  return end.has_ended && cause != cause::kProgramOutputInvalid ? access.exec.install_hint : "";
}

void report(const PluginEnd& end, const Access& access, Item& item) {
  if (!end.credential) {
    Error error = end.credential.error();
    if (error.hint.empty()) error.hint = hint_on(end, access);
    return item.fail(StepId::run, error, cause::kProgramFailed);
  }
  const std::string warning = std::string(program_name(access.exec.command)) + ": warning: ";
  if (is_plugin_of_ours(access.exec.command) && end.said.starts_with(warning)) {
    item.warn(StepId::run, {}, end.said.substr(warning.size()));
  } else {
    const auto elapsed = std::chrono::round<std::chrono::milliseconds>(end.elapsed);
    item.ok(StepId::run, "exit code 0 after " + format_duration(elapsed));
  }
}

}  // namespace

PluginEnd run_plugin(const Access& access, const std::string& path, const Environment& environment,
                     const PluginRun& run) {
  std::vector<std::string> variables = environment_of_plugin(access, environment);
  const std::string variable = std::string(kReportVariable) + "=";
  std::erase_if(variables, [&](const std::string& one) { return one.starts_with(variable); });
  const bool reports = is_plugin_of_ours(access.exec.command);
  if (reports) variables.push_back(variable + std::to_string(kReportDescriptor));
  const auto hear = [&run, room = kMaxHeard](std::string_view text) mutable {
    text = text.substr(0, room);
    room -= text.size();
    if (run.on_error_output && !text.empty()) run.on_error_output(text);
  };
  const auto start = std::chrono::steady_clock::now();
  Result<Finished> finished = run_command({.path = path,
                                           .arguments = access.exec.args,
                                           .environment = std::move(variables),
                                           .limit = run.limit,
                                           .max_report = reports ? kMaxReport : 0,
                                           .on_error_output = hear,
                                           .ends_with_signals = run.ends_with_signals,
                                           .stop = run.stop});
  const Duration elapsed = std::chrono::steady_clock::now() - start;
  if (!finished) {
    return {.credential = no_end(access, path, std::move(finished).error()), .elapsed = elapsed};
  }
  if (run.on_end) run.on_end(finished->exit_code, finished->signal);
  return {.credential = credential_of(access, *finished),
          .has_ended = true,
          .said = first_line(finished->error_output),
          .elapsed = elapsed};
}

std::optional<Credential> PluginRunner::run(const Access& access, const Environment& environment,
                                            Item& item) {
  const ProgramFinding program = programs_.look_at(access.exec.command);
  if (program.verdict == Verdict::fail && !program.is_foreign) {
    item.fail(StepId::program, program.cause, program.message,
              access.exec.install_hint.empty() ? program.hint : access.exec.install_hint);
    item.skip(StepId::run, "the program cannot be started");
    return std::nullopt;
  }
  if (access.exec.interactive_mode == "Always") {
    item.ok(StepId::program, program.message);
    item.fail(StepId::run, cause::kInteractionNeeded,
              "its interactiveMode is Always: clients without a terminal do not run it",
              "a controller has no terminal: use a plugin that needs none");
    return std::nullopt;
  }
  PluginEnd end = run_plugin(access, program.path, environment, run_);
  const bool has_credential = end.credential.has_value();
  if (program.is_foreign && !end.has_ended && !has_credential &&
      end.credential.error().kind == Error::Kind::configuration) {
    item.fail(StepId::program, program.cause, program.message, program.hint);
    item.skip(StepId::run, "the program cannot be started");
    return std::nullopt;
  }
  report(end, access, item);
  if (program.verdict == Verdict::warn) {
    item.warn(StepId::program, program.cause, program.message, program.hint);
  } else if (program.is_foreign) {
    item.ok(StepId::program, in_quotes(access.exec.command) + ", run by an interpreter");
  } else {
    item.ok(StepId::program, program.message);
  }
  if (!has_credential) return std::nullopt;
  return std::move(end.credential).value();
}

}  // namespace execcred::engine

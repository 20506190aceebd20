// SPDX-License-Identifier: Apache-2.0
#include <execcred/engine/plugin_run.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/exec/run_record.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/os/process.hpp>
#include <execcred/os/program_file.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <utility>

namespace execcred::engine {
namespace {

// Only glibc has sigabbrev_np.
std::string name_of_signal(int signal) {
  constexpr std::array<std::pair<int, const char*>, 15> kNames = {{
      {SIGABRT, "SIGABRT"},
      {SIGALRM, "SIGALRM"},
      {SIGBUS, "SIGBUS"},
      {SIGFPE, "SIGFPE"},
      {SIGHUP, "SIGHUP"},
      {SIGILL, "SIGILL"},
      {SIGINT, "SIGINT"},
      {SIGKILL, "SIGKILL"},
      {SIGPIPE, "SIGPIPE"},
      {SIGQUIT, "SIGQUIT"},
      {SIGSEGV, "SIGSEGV"},
      {SIGSYS, "SIGSYS"},
      {SIGTERM, "SIGTERM"},
      {SIGTRAP, "SIGTRAP"},
      {SIGXCPU, "SIGXCPU"},
  }};
  for (const auto& [number, name] : kNames) {
    if (number == signal) return name;
  }
  return "signal " + std::to_string(signal);
}

bool is_true(const json::Value* value) {
  return value != nullptr && value->boolean() != nullptr && *value->boolean();
}

std::string first_line(std::string_view text) {
  text = trim(text);
  return std::string(text.substr(0, text.find('\n')));
}

struct Ended {
  const Access& access;
  const Finished& finished;
  std::string after;  // "after 12ms"
};

void report_signal(const Ended& ended, Item& item) {
  item.fail(
      StepId::run, cause::kProgramCrashed,
      in_quotes(ended.access.exec.command) + " was ended by " +
          name_of_signal(ended.finished.signal) + " " + ended.after,
      "a crash is a defect of the program, unless a user or the kernel (out of memory) killed it");
}

void report_failure(const Ended& ended, Item& item) {
  const Access& access = ended.access;
  Error error{.message = in_quotes(access.exec.command) + " ended with exit code " +
                         std::to_string(ended.finished.exit_code) + " " + ended.after};
  const std::string said = first_line(ended.finished.error_output);
  if (!said.empty()) error.message += ": " + said;
  take_error_output(ended.finished.error_output, error);
  const std::optional<Error> report = parse_report(ended.finished.report);
  if (report) {
    error.message = std::string(program_name(access.exec.command)) + ": " + report->message;
    error.context = report->context;
    error.hint = report->hint;
    error.is_local = report->is_local;
    error.cause = report->cause;
  }
  if (error.hint.empty()) error.hint = access.exec.install_hint;
  item.fail(StepId::run, error, cause::kProgramFailed);
}

// Reports a program that could not be started, ran too long, or printed too much.
void report_no_end(const ProgramFinding& program, const Error& error, Item& item) {
  if (error.kind == Error::Kind::configuration) {
    if (program.is_foreign) {
      item.fail(StepId::program, program.cause, program.message, program.hint);
      item.skip(StepId::run, "the program cannot be started");
      return;
    }
    item.fail(StepId::run, cause::kProgramFailed, error.message, error.hint);
    return;
  }
  if (error.kind == Error::Kind::no_credential) {
    item.fail(StepId::run, cause::kProgramOutputInvalid, error.message);
    return;
  }
  const bool is_shortage = error.is_local || error.kind == Error::Kind::internal;
  item.fail(StepId::run, is_shortage ? cause::kProgramFailed : cause::kProgramTimeout,
            error.message,
            is_shortage ? std::string_view()
                        : std::string_view("--timeout=DURATION sets the limit; clients wait for "
                                           "the program without one"));
}

}  // namespace

std::optional<Error> parse_report(std::string_view text) {
  const Result<json::Value> document = json::parse(text, {.bytes = kMaxReport});
  if (!document) return std::nullopt;
  const std::optional<std::string_view> cause =
      known_cause(json::text_or_empty(*document, "cause"));
  if (!cause) return std::nullopt;
  Error error{.message = json::text_or_empty(*document, "error"),
              .hint = json::text_or_empty(*document, "hint"),
              .is_local = is_true(document->find("local")),
              .cause = *cause};
  const json::Value* const context = document->find("context");
  if (context == nullptr || context->array() == nullptr) return error;
  for (const json::Value& doing : *context->array())
    error.context.push_back(json::text_or_empty(&doing));
  return error;
}

std::optional<Credential> run_plugin(const Access& access, const Environment& environment,
                                     const ProgramFinding& program, const RunOptions& options,
                                     Item& item) {
  std::vector<std::string> variables = environment_of_plugin(access, environment);
  const std::string variable = std::string(kReportVariable) + "=";
  std::erase_if(variables, [&](const std::string& one) { return one.starts_with(variable); });
  const bool reports = is_plugin_of_ours(access.exec.command);
  if (reports) variables.push_back(variable + std::to_string(kReportDescriptor));
  const auto start = std::chrono::steady_clock::now();
  const Result<Finished> finished = run_command({.path = program.path,
                                                 .arguments = access.exec.args,
                                                 .environment = std::move(variables),
                                                 .limit = options.limit,
                                                 .max_report = reports ? kMaxReport : 0,
                                                 .stop = options.stop});
  const auto elapsed =
      std::chrono::round<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  if (!finished) {
    report_no_end(program, finished.error(), item);
    return std::nullopt;
  }
  const Ended ended{access, *finished, "after " + format_duration(elapsed)};
  if (finished->signal != 0 || finished->exit_code != 0) {
    finished->signal != 0 ? report_signal(ended, item) : report_failure(ended, item);
    return std::nullopt;
  }
  Result<Credential> credential =
      parse_exec_credential(finished->output.reveal(), access.exec.api_version);
  if (!credential) {
    item.fail(StepId::run, cause::kProgramOutputInvalid,
              "what " + in_quotes(access.exec.command) +
                  " printed is no ExecCredential: " + credential.error().message,
              credential.error().hint);
    return std::nullopt;
  }
  const std::string said =
      is_plugin_of_ours(access.exec.command) ? first_line(finished->error_output) : "";
  const std::string warning = std::string(program_name(access.exec.command)) + ": warning: ";
  if (said.starts_with(warning)) {
    item.warn(StepId::run, {}, said.substr(warning.size()));
  } else {
    item.ok(StepId::run, "exit code 0 " + ended.after);
  }
  return std::move(credential).value();
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
  std::optional<Credential> credential = run_plugin(access, environment, program, options_, item);
  if (program.verdict == Verdict::warn) {
    item.warn(StepId::program, program.cause, program.message, program.hint);
  } else if (!program.is_foreign) {
    item.ok(StepId::program, program.message);
  } else if (item.step(StepId::program).verdict != Verdict::fail) {
    item.ok(StepId::program, in_quotes(access.exec.command) + ", run by an interpreter");
  }
  return credential;
}

}  // namespace execcred::engine

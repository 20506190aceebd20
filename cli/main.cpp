// SPDX-License-Identifier: Apache-2.0
// execcred: the command line for people who set up clusters, mappings and plugins.
#include "commands.hpp"
#include "error_output.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/process.hpp>
#include <execcred/os/process_setup.hpp>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

namespace execcred::cli {
namespace {

constexpr std::chrono::seconds kPatience(10);

int fail(const Error& error) {
  // The time limit ends here: a time-out while the error is written would report a second error.
  deadline::stop();
  deadline::write_to_stderr(format_error(kProgram, error));
  return exit_code(error.kind);
}

// A slow reader gets every message. One that reads nothing for ten seconds gets no further ones, so
// that it cannot block the program.
void write_messages(const Outcome& outcome) {
  bool is_read = true;
  const auto write = [&is_read](std::string_view text) {
    if (text.empty() || !is_read) return;
    // The time limit is that of the command's work. A time-out now would report a second error.
    deadline::stop();
    is_read = write_to_slow_reader(text, kPatience);
  };
  write(outcome.notes);
  for (const Error& warning : outcome.warnings) write(format_error(kProgram, warning, "warning"));
  for (const Error& problem : outcome.problems) write(format_error(kProgram, problem));
}

int run_program(int argc, char** argv) {
  const Status ready = set_up_process();
  if (!ready) return fail(ready.error());
  // CLI11 allocates memory in functions that are noexcept, so it could not report a failure.
  end_without_memory(kProgram);
  // curl would write the secrets of its TLS sessions to this file.
  unsetenv("SSLKEYLOGFILE");
  if (getpid() == 1) reap_orphans();
  CommandLine commands;
  add_commands(commands);
  commands.set_program(argc > 0 ? argv[0] : "");
  const Result<Outcome> outcome =
      commands.run({argv + (argc > 0 ? 1 : 0), argv + argc}, Environment::copy());
  if (!outcome) return fail(outcome.error());
  write_messages(*outcome);
  const std::string_view text = outcome->text.reveal();
  if (outcome->needs_reader) {
    const Status written = write_to_stdout(text);
    return written ? outcome->exit_code : fail(written.error());
  }
  const Result<bool> written = write_while_read(text);
  return written ? outcome->exit_code : fail(written.error());
}

}  // namespace
}  // namespace execcred::cli

int main(int argc, char** argv) {
  try {
    return execcred::cli::run_program(argc, argv);
  } catch (...) {
    return execcred::cli::fail({.message = "internal error", .hint = "please report it"});
  }
}

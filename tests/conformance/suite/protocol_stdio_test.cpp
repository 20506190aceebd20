// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error in every state that a parent can leave them in: standard
// output gets one whole document or the exit code says that it did not.
#include "build_kind.hpp"
#include "client.hpp"
#include "rules.hpp"
#include "sandbox.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <string>

using namespace blackbox;

namespace {

constexpr int kInternal = 70;

void limit_file_size(rlim_t bytes) {
  const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace

TEST_SUITE_BEGIN(kProtocolSuite);

TEST_CASE("in each of the eight combinations of closed descriptors no file gets the answer" *
          doctest::description("promise 22")) {
  const Sandbox sandbox;
  int parts = 0;
  for (unsigned closed = 0; closed < 8; ++closed) {
    CAPTURE(closed);
    Command command = plugin_command_with(client_info(kV1, "https://10.1.2.3"));
    command.before_exec = [closed] {
      for (int descriptor = 0; descriptor < 3; ++descriptor) {
        if ((closed & 1U << descriptor) != 0) close(descriptor);
      }
    };
    const Outcome outcome = run(command);
    const bool is_stdout_closed = (closed & 2U) != 0;
    const bool is_stderr_closed = (closed & 4U) != 0;
    if (!is_stdout_closed) {
      CHECK_SUCCESS(outcome);
    } else if (!is_stderr_closed) {
      CHECK_FAILURE(outcome, kInternal, "standard output");
    } else {
      CHECK_RULE(has_own_rules() ? outcome.exit_code == kInternal : outcome.exit_code > 0,
                 "it exited with " + std::to_string(outcome.exit_code));
      CHECK_RULE(outcome.output.empty() && outcome.error_output.empty(), "a file got the answer");
    }
    parts += outcome.exit_code == 0 && is_stdout_closed ? 1 : 0;
  }
  MESSAGE("parts of an answer with exit code 0: " << parts << " of 8 combinations");
}

TEST_CASE("with a closed stdout nothing is asked for, not even the plugin's configuration" *
          kOwnRules) {
  Command command = answered_command({"--no-such-option"});
  command.before_exec = [] { close(1); };
  CHECK_FAILURE(run(command), kInternal, "standard output");
}

TEST_CASE("a stdout that cannot take the answer is an error" * doctest::description("promise 22")) {
  Command command = answered_command();
  command.before_exec = [] { open_descriptor(1, "/dev/full", O_WRONLY); };
  CHECK_FAILURE(run(command), kInternal, "standard output");
  command.before_exec = [] { open_descriptor(1, "/dev/null", O_RDONLY); };
  CHECK_FAILURE(run(command), kInternal, "standard output");
  command.before_exec = [] { open_descriptor(1, "/", O_RDONLY | O_DIRECTORY); };
  CHECK_FAILURE(run(command), kInternal, "standard output");
  command.before_exec = [] { open_descriptor(1, "/dev/null", O_PATH); };
  CHECK_FAILURE(run(command), kInternal, "standard output");
  if (!has_own_rules()) return;
  for (const std::string option : {"--version", "--help", "--show-config"}) {
    CAPTURE(option);
    Command other = answered_command({option});
    other.before_exec = [] { open_descriptor(1, "/dev/full", O_WRONLY); };
    CHECK_FAILURE(run(other), kInternal, "standard output");
  }
}

TEST_CASE("a reader that is gone is an error, not a signal") {
  Pipe pipe;
  pipe.close_read_end();
  Command command = answered_command();
  command.before_exec = [&pipe] { replace_descriptor(1, pipe.write_end()); };
  CHECK_FAILURE(run(command), kInternal, "standard output");
}

TEST_CASE("a stdout in a file of bounded size is an error, not a signal" *
          doctest::description("promise 22")) {
  if (!kWritesNoFiles) {
    MESSAGE("skipped: the program's runtime writes files too");
    return;
  }
  const Sandbox sandbox;
  for (const rlim_t size : {0U, 10U}) {
    CAPTURE(size);
    const std::string path = sandbox.at("out");
    Command command = answered_command();
    command.before_exec = [&path, size] {
      open_descriptor(1, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
      limit_file_size(size);
    };
    CHECK_FAILURE(run(command), kInternal, "standard output");
    CHECK_RULE(read_text(path).size() <= size, "the file is larger than its limit");
  }
}

TEST_CASE("a stderr that is full and never read delays neither success nor failure") {
  Pipe full;
  full.fill();
  Command success = plugin_command_with(client_info(kV1));
  if (has_own_rules()) success.arguments.emplace_back("--debug");
  success.before_exec = [&full] { replace_descriptor(2, full.write_end()); };
  success.patience = milliseconds(6000);
  CHECK_SUCCESS(run(success));
  if (!has_own_rules()) return;
  Command failure = success;
  failure.environment.push_back("EXECCRED_API_VERSION=garbage");
  const Outcome refused = run(failure);
  CHECK_MESSAGE(refused.exit_code == 2, describe(refused));
  CHECK(refused.output == "");
  Pipe never_ends;
  Command late = answered_command({"--exec-info=-", "--timeout=100ms"});
  late.patience = success.patience;
  late.before_exec = [&full, &never_ends] {
    replace_descriptor(0, never_ends.read_end());
    replace_descriptor(2, full.write_end());
  };
  const Outcome unavailable = run(late);
  CHECK_MESSAGE(unavailable.exit_code == 3, describe(unavailable));
}

TEST_CASE("a stderr that nobody reads any more, or that is full, changes nothing") {
  Pipe gone;
  gone.close_read_end();
  Command command = answered_command();
  if (has_own_rules()) command.arguments.emplace_back("--debug");
  command.before_exec = [&gone] { replace_descriptor(2, gone.write_end()); };
  CHECK_SUCCESS(run(command));
  command.before_exec = [] { open_descriptor(2, "/dev/full", O_WRONLY); };
  CHECK_SUCCESS(run(command));
  if (!has_own_rules()) return;
  command.arguments.emplace_back("--no-such-option");
  CHECK(run(command).exit_code == 2);
}

TEST_CASE("a stdout that blocks ends at the deadline" * kOwnRules) {
  Pipe full;
  full.fill();
  Command command = answered_command({"--timeout=200ms"});
  command.before_exec = [&full] { replace_descriptor(1, full.write_end()); };
  command.patience = milliseconds(6000);
  CHECK_FAILURE(run(command), 3, "timed out");
}

TEST_CASE("a stdout that does not block gets the whole answer once it is read") {
  Pipe pipe;
  pipe.fill();
  const int fill = pipe.pending();
  Command command = answered_command();
  command.before_exec = [&pipe] {
    replace_descriptor(1, pipe.write_end());
    fcntl(1, F_SETFL, O_NONBLOCK);
  };
  Child child(command);
  // It must find the pipe full first. Then it sleeps, or has exited.
  int asleep = 0;
  CHECK(wait_until([&] {
    const std::string state = process_status(child.pid(), "State");
    asleep = state.starts_with('S') ? asleep + 1 : 0;
    return asleep > 50 || state.starts_with('Z');
  }));
  std::string text(static_cast<std::size_t>(fill), '\0');
  REQUIRE(read(pipe.read_end(), text.data(), text.size()) == fill);
  const Outcome outcome = child.wait();
  CHECK_RULE(outcome.exit_code == 0, "it did not succeed\n" + describe(outcome));
  if (outcome.exit_code != 0) return;
  pipe.close_write_end();
  std::string answer(1 << 20, '\0');
  const ssize_t size = read(pipe.read_end(), answer.data(), answer.size());
  REQUIRE(size > 0);
  answer.resize(static_cast<std::size_t>(size));
  const Answer parsed = has_own_rules() ? read_answer(answer) : read_any_answer(answer);
  CHECK_RULE(parsed.problem.empty(), "the answer " + parsed.problem);
}

TEST_CASE("few descriptors are enough, and too few are an error") {
  if (kIsSanitized) {
    MESSAGE("skipped: the sanitizer needs descriptors");
    return;
  }
  for (const rlim_t count : {4U, 5U, 6U, 10U}) {
    CAPTURE(count);
    Command command = plugin_command_with(client_info(kV1));
    command.before_exec = [count] {
      const rlimit limit = {.rlim_cur = count, .rlim_max = count};
      setrlimit(RLIMIT_NOFILE, &limit);
    };
    const Outcome outcome = run(command);
    if (outcome.exit_code == 0 || count == 10) {
      CHECK_SUCCESS(outcome);
    } else if (outcome.exit_code == 127) {
      CHECK(outcome.output.empty());  // the dynamic loader failed before the program began
    } else {
      // The message has "open files" with glibc, and "file descriptors" with musl.
      CHECK_FAILURE(outcome, outcome.exit_code, " file");
      CHECK_MESSAGE(outcome.exit_code >= 0, describe(outcome));
    }
  }
}

TEST_SUITE_END();

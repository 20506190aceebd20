// SPDX-License-Identifier: Apache-2.0
// Subject tokens that another program prints.
#include "build_kind.hpp"
#include "federation.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <sstream>

namespace execcred::test {
namespace {

std::string array_of(const Texts& parts) {
  std::string text;
  for (const std::string& part : parts)
    text += (text.empty() ? "[" : ",") + blackbox::json_string(part);
  return text + "]";
}

Ask by(const Texts& command, Texts more = {}) {
  return {.arguments = Texts{"--subject-token-command=" + array_of(command)} + more,
          .has_subject = false};
}

// The arguments of a process, each with a NUL after it; empty for one that has just ended.
std::string arguments_of(const std::string& process) {
  const int file = open((process + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
  std::array<char, 256> text = {};
  const ssize_t size = file < 0 ? 0 : read(file, text.data(), text.size());
  if (file >= 0) close(file);
  return {text.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
}

// How many processes run "sleep" with this argument.
int sleepers(const std::string& argument) {
  const std::string wanted = "sleep" + std::string(1, '\0') + argument + std::string(1, '\0');
  int count = 0;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    count += arguments_of(process.path().native()) == wanted ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("command: its output is the token, and its arguments are passed without a shell") {
  Federation fed;
  const std::string script =
      fed.sandbox.script("get-token", "printf '%s|' \"$@\" >" + fed.sandbox.at("arguments") +
                                          "\necho noise >&2\necho ' " + fed.subject + " '\n");
  const Outcome outcome = fed.run(by({script, "a b", "", "$HOME;`id`", "*", "--flag=x"}));
  CHECK(outcome.exit_code == 0);
  CHECK(fed.idp.last(kToken).field("subject_token") == fed.subject);
  CHECK(blackbox::read_text(fed.sandbox.at("arguments")) == "a b||$HOME;`id`|*|--flag=x|");
}

TEST_CASE("command: no array, no absolute path and no such program are configuration errors") {
  Federation fed;
  const std::string plain = fed.sandbox.write("plain", "#!/bin/sh\necho token\n", 0644);
  for (const std::string text :
       {"/bin/true", "[]", "{}", "\"/bin/true\"", "[\"true\"]", "[\"bin/true\"]", "[\"./true\"]",
        "[\"/bin/true\",7]", "[\"/bin/true\",\"a\\u0000b\"]", "[\"\"]"}) {
    CAPTURE(text);
    CHECK_FAILURE(fed.run_cold({.arguments = {std::string("--subject-token-command=") + text},
                                .has_subject = false}),
                  2, "subject");
  }
  if (blackbox::kSaysWhyNotStarted) {
    for (const char* program : {"/nope/get-token", "/"}) {
      CHECK_FAILURE(fed.run_cold(by({program})), 2, "subject");
    }
    CHECK_FAILURE(fed.run_cold(by({plain})), 2, "Permission denied");
  }
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("command: failure, no output, too much output and invalid tokens are refused") {
  Federation fed;
  const std::string token = new_subject();
  for (const std::string& body :
       {"echo " + token + "; exit 3", std::string("exit 1"), std::string("exit 0"),
        std::string("echo; echo"), std::string("echo two words"),
        std::string("head -c 10000000 /dev/zero | tr '\\0' a"), std::string("cat /dev/zero"),
        "echo " + token + "; echo " + token, "echo " + new_subject(-60)}) {
    CAPTURE(body);
    CHECK_FAILURE(fed.run_cold(by({fed.sandbox.script("get-token", body)})), 1,
                  "the subject token");
  }
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("command: if a signal ends it, the run exits with 1, and the failure is not remembered") {
  Federation fed;
  fed.idp.answer(token_reply("the-token"));
  const Ask ask = by({fed.sandbox.script("get-token", "kill -9 $$")});
  CHECK_FAILURE(fed.run_cold(ask), 1, "was ended by signal 9");
  CHECK(fed.idp.connections() == 0);
  fed.sandbox.script("get-token", "echo " + new_subject());
  CHECK(token_of(fed.run(ask)) == "the-token");
}

TEST_CASE("command: its output and exit code count also if the client ignores SIGCHLD" *
          doctest::description("promise 23")) {
  for (const bool succeeds : {true, false}) {
    CAPTURE(succeeds);
    Federation fed;
    const std::string body = succeeds ? "echo " + fed.subject : "exit 3";
    blackbox::Command command = fed.command(by({fed.sandbox.script("get-token", body)}));
    command.before_exec = [] { std::signal(SIGCHLD, SIG_IGN); };
    const Outcome outcome = blackbox::run(command);
    if (succeeds) {
      CHECK_SUCCESS(outcome);
    } else {
      CHECK_FAILURE(outcome, 1, "ended with exit code 3");
    }
  }
}

TEST_CASE("command: one that hangs is ended at the deadline, with its child processes") {
  Federation fed;
  const std::string word = "61.86" + std::to_string(getpid());
  for (const std::string& body :
       {"exec sleep " + word, "sleep " + word, "sleep " + word + " & sleep " + word + " & wait",
        "trap '' TERM INT HUP; sleep " + word}) {
    CAPTURE(body);
    const Outcome outcome =
        fed.run_cold(by({fed.sandbox.script("get-token", body)}, {"--timeout=1s"}));
    CHECK_FAILURE(outcome, 3, "was still running after");
    CHECK(outcome.elapsed < blackbox::kNoWait);
    CHECK(blackbox::wait_until([&] { return sleepers(word) == 0; }, milliseconds(2000)));
  }
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE(
    "command: child processes that keep its output open do not delay the run, and end with it") {
  Federation fed;
  const std::string word = "61.75" + std::to_string(getpid());
  for (const std::string lead : {"", "setsid "}) {
    CAPTURE(lead);
    const std::string script = fed.sandbox.script(
        "get-token", "PATH=/usr/bin:/bin\n" + lead + "sleep " + word + " &\necho " + fed.subject);
    const Outcome outcome = fed.run_cold(by({script}));
    CHECK_SUCCESS(outcome);
    CHECK(outcome.elapsed < blackbox::kNoWait);
    CHECK(blackbox::wait_until([&] { return sleepers(word) == 0; }, milliseconds(2000)));
  }
}

TEST_CASE("command: it gets the environment without EXECCRED variables and the client's document") {
  Federation fed;
  const std::string script = fed.sandbox.script(
      "get-token", "env >" + fed.sandbox.at("environment") + "\necho " + fed.subject);
  Ask ask = by({script});
  ask.variables = {"HOME=/nowhere",   "CI_TOKEN=abc",        "EXECCRED_SCOPE=a",
                   "EXECCRED_DEBUG=", "EXECCRED_ANYTHING=b", "PATH=/usr/bin:/bin"};
  CHECK_SUCCESS(fed.run(ask));
  const std::string seen = "\n" + blackbox::read_text(fed.sandbox.at("environment"));
  CHECK(seen.find("\nCI_TOKEN=abc\n") != std::string::npos);
  CHECK(seen.find("\nHOME=/nowhere\n") != std::string::npos);
  CHECK(seen.find("EXECCRED_") == std::string::npos);
  CHECK(seen.find("KUBERNETES_EXEC_INFO") == std::string::npos);
}

TEST_CASE(
    "command: it inherits only the three standard descriptors, and its standard input is empty") {
  Federation fed;
  const std::string script = fed.sandbox.script(
      "get-token", "ls /proc/self/fd >" + fed.sandbox.at("descriptors") + "\ncat >" +
                       fed.sandbox.at("input") + "\necho " + fed.subject);
  Ask ask = by({script});
  blackbox::Command command = fed.command(ask);
  // Closes the descriptors that the caller of the tests left open.
  command.before_exec = [] { close_range(3, ~0U, 0); };
  command.input = "what the client wrote";
  CHECK_SUCCESS(blackbox::run(command));
  CHECK(blackbox::read_text(fed.sandbox.at("input")) == "");
  std::istringstream list(blackbox::read_text(fed.sandbox.at("descriptors")));
  int count = 0;
  for (std::string name; std::getline(list, name);) {
    ++count;
    CHECK(std::stoi(name) <= 3);  // the fourth is the folder that ls reads
  }
  CHECK(count > 0);
}

TEST_CASE("command: SIGTERM ends the run and the command, with its child processes") {
  Federation fed;
  const std::string word = "61.64" + std::to_string(getpid());
  for (const std::string& body : {"exec sleep " + word, "sleep " + word + " & wait; true"}) {
    CAPTURE(body);
    fed.clear_cache();
    blackbox::Child child(fed.command(by({fed.sandbox.script("get-token", body)})));
    CHECK(blackbox::wait_until([&] { return sleepers(word) == 1; }));
    child.send(SIGTERM);
    const Outcome outcome = child.wait();
    CHECK(outcome.elapsed < blackbox::kNoWait);
    CHECK(outcome.output == "");
    CHECK(blackbox::wait_until([&] { return sleepers(word) == 0; }, milliseconds(2000)));
  }
}

}  // namespace execcred::test

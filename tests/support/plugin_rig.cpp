// SPDX-License-Identifier: Apache-2.0
#include "plugin_rig.hpp"

#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <sstream>

namespace execcred::test {
namespace {

std::string next_number() {
  static int count = 0;
  return std::to_string(++count);
}

}  // namespace

Texts operator+(Texts one, const Texts& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

blackbox::Command plugin_command(std::string_view plugin, Texts arguments, Texts variables) {
  arguments.insert(arguments.begin(), EXECCRED_BIN "/" + std::string(plugin));
  return {.arguments = std::move(arguments), .environment = std::move(variables)};
}

Texts asked_for(std::string_view server, std::string_view config, std::string_view more_of_cluster,
                std::string_view version) {
  if (server.empty()) return {};
  const std::string member = config.empty() ? "" : ",\"config\":" + std::string(config);
  return {"KUBERNETES_EXEC_INFO=" +
          blackbox::exec_info(version, server, member + std::string(more_of_cluster))};
}

std::string token_of(const Outcome& outcome) { return blackbox::read_answer(outcome.output).token; }

std::int64_t claimed_seconds(const Outcome& outcome) {
  const blackbox::Answer answer = blackbox::read_answer(outcome.output);
  CHECK(answer.problem == "");
  return answer.expiration - blackbox::seconds_since_epoch();
}

std::int64_t claim_for(std::int64_t seconds) {
  return seconds - std::min<std::int64_t>(30, seconds / 10);
}

bool is_about(std::int64_t seconds, std::int64_t expected) {
  return std::abs(seconds - expected) <= 5;
}

Texts examples_in(const std::string& help) {
  Texts examples;
  const std::size_t title = help.find("\nExamples:\n");
  if (title == std::string::npos) return examples;
  std::istringstream lines(help.substr(title));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    ")) examples.push_back(line.substr(4));
  }
  return examples;
}

void check_examples(const std::string& plugin, const blackbox::Sandbox& folder, Texts variables) {
  variables.emplace_back("PATH=" EXECCRED_BIN ":/usr/bin:/bin");
  const Texts examples = examples_in(blackbox::run(plugin_command(plugin, {"--help"})).output);
  CHECK(examples.size() == 2);
  for (const std::string& example : examples) {
    CHECK((example + " ").starts_with(plugin + " "));
    const Outcome outcome = blackbox::run(
        {.arguments = {"/bin/bash", "-c", "cd '" + folder.path().native() + "' && " + example},
         .environment = variables});
    CHECK_MESSAGE(outcome.exit_code == 0, (example + ": " + describe(outcome)));
    CHECK(outcome.error_output == "");
    CHECK_FALSE(outcome.output.empty());
  }
}

std::string command_json(const Texts& command) {
  std::string text;
  for (const std::string& part : command) {
    text += (text.empty() ? "" : ",") + blackbox::json_string(part);
  }
  return "[" + text + "]";
}

std::string exec_credential(const std::string& status, std::string_view version) {
  return R"({"kind":"ExecCredential","apiVersion":")" + std::string(version) + R"(","status":)" +
         status + "}";
}

std::string timestamp(std::int64_t seconds) {
  const std::time_t at = std::time(nullptr) + seconds;
  std::tm parts = {};
  gmtime_r(&at, &parts);
  std::array<char, 32> text = {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string new_secret() {
  const std::string number = next_number();
  std::string secret = "k3ptToItself" + number + "AndNeverShown" + number + "abcdef";
  blackbox::remember_secret(secret);
  return secret;
}

std::string new_jwt(const std::string& claims, std::int64_t seconds,
                    const std::string& more_claims) {
  const std::int64_t end = blackbox::seconds_since_epoch() + seconds;
  std::string token = blackbox::make_jwt("{" + claims + ",\"exp\":" + std::to_string(end) +
                                         ",\"jti\":\"" + next_number() + "\"" + more_claims + "}");
  blackbox::remember_secret(token);
  return token;
}

}  // namespace execcred::test

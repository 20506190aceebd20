// SPDX-License-Identifier: Apache-2.0
#include "plugin_under_test.hpp"

#include "sandbox.hpp"

#include <mutex>
#include <regex>
#include <utility>

namespace blackbox {
namespace {

constexpr std::size_t kShort = 4096;

struct Plugin {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

Rules& current_rules() {
  static Rules rules = Rules::execcred;
  return rules;
}

Plugin& plugin() {
  static const Sandbox sandbox;
  static Plugin plugin = {
      .arguments = {default_plugin(),
                    "--token-file=" + sandbox.write("token", jwt_for(24 * 3600) + "\n")},
      .environment = {}};
  return plugin;
}

// Servers of a test remember what they give, in their own threads.
class KnownSecrets {
 public:
  void add(std::string secret) {
    const std::scoped_lock lock(mutex_);
    secrets_.push_back(std::move(secret));
  }
  std::vector<std::string> all() const {
    const std::scoped_lock lock(mutex_);
    return secrets_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> secrets_;  // under mutex_
};

KnownSecrets& known_secrets() {
  static KnownSecrets secrets;
  return secrets;
}

// Reasons for which a client would refuse the answer. Rules that no client needs have their own
// cases.
std::string reason_against_credential(const Answer& answer) {
  if (!answer.problem.empty()) return "the answer " + answer.problem;
  if (answer.version != kV1 && answer.version != kV1Beta1)
    return "it answered in version '" + answer.version + "'";
  const bool has_expired = answer.expiration >= 0 && answer.expiration < seconds_since_epoch() - 1;
  return has_expired ? "the credential has expired" : "";
}

std::string reason_against_success(const Outcome& outcome, std::string_view version) {
  if (outcome.exit_code != 0) return "it did not succeed";
  if (!has_own_rules()) return reason_against_credential(read_any_answer(outcome.output));
  if (!outcome.error_output.empty()) return "it wrote to stderr";
  const Answer answer = read_answer(outcome.output);
  if (!answer.problem.empty()) return answer.problem;
  if (answer.version != version) return "it answered in " + answer.version;
  if (answer.expiration < seconds_since_epoch() - 1) return "the credential has expired";
  return {};
}

std::string reason_against_failure(const Outcome& outcome, int exit_code, std::string_view text) {
  static const std::regex form(
      R"([a-z0-9-]+: error: [^\n]+\n(  while [^\n]+\n)*(  hint: [^\n]+\n)?)");
  if (!has_own_rules()) {
    if (outcome.exit_code == 0) return "it exited with 0";
    if (outcome.exit_code < 0) return "it did not exit by itself";
  } else if (outcome.exit_code != exit_code) {
    return "exit " + std::to_string(exit_code) + " is due";
  }
  if (!outcome.output.empty()) return "it wrote to stdout";
  if (outcome.error_output.size() >= kShort) return "its message is too long";
  if (outcome.error_output.empty()) return "it gave no message";
  if (has_own_rules() && !std::regex_match(outcome.error_output, form))
    return "its message has another form";
  for (const char c : outcome.error_output) {
    if ((c >= 0 && c < ' ' && c != '\n') || c == '\x7f') return "a control character is shown";
  }
  if (text.empty()) return "the case does not say which failure it expects";
  if (has_own_rules() && !says(outcome, text)) return "it does not say " + std::string(text);
  return secret_in(outcome.error_output);
}

std::string with_outcome(const std::string& reason, const Outcome& outcome) {
  return reason.empty() ? std::string() : reason + "\n" + describe(outcome);
}

}  // namespace

void use_rules(Rules rules) { current_rules() = rules; }
Rules rules() { return current_rules(); }
bool has_own_rules() { return rules() == Rules::execcred; }

void use_plugin(std::vector<std::string> arguments, std::vector<std::string> environment) {
  plugin() = {.arguments = std::move(arguments), .environment = std::move(environment)};
}

Command plugin_command(std::vector<std::string> more_arguments,
                       std::vector<std::string> more_environment) {
  Command command{.arguments = plugin().arguments, .environment = plugin().environment};
  command.arguments.insert(command.arguments.end(), more_arguments.begin(), more_arguments.end());
  command.environment.insert(command.environment.end(), more_environment.begin(),
                             more_environment.end());
  return command;
}

Command plugin_command_with(const std::string& exec_info, std::vector<std::string> more_arguments) {
  return plugin_command(std::move(more_arguments), {"KUBERNETES_EXEC_INFO=" + exec_info});
}

void remember_secret(std::string secret) { known_secrets().add(std::move(secret)); }

std::string secret_in(std::string_view text) {
  for (const std::string& secret : known_secrets().all()) {
    // A part of it must not be shown either: its first and last thirds are searched for.
    const std::size_t third = std::max<std::size_t>(secret.size() / 3, 8);
    if (secret.size() < third) continue;
    for (const std::string& part :
         {secret.substr(0, third), secret.substr(secret.size() - third)}) {
      if (text.find(part) != std::string_view::npos) return "a secret is shown: " + part;
    }
  }
  return {};
}

std::string violation_of_success(const Outcome& outcome, std::string_view version) {
  return with_outcome(reason_against_success(outcome, version), outcome);
}

std::string violation_of_failure(const Outcome& outcome, int exit_code, std::string_view text) {
  return with_outcome(reason_against_failure(outcome, exit_code, text), outcome);
}

std::string violation_of_rule(bool holds, std::string text) {
  return holds ? std::string() : std::move(text);
}

bool says(const Outcome& outcome, std::string_view text) {
  return outcome.error_output.find(text) != std::string::npos;
}

std::string violation_of_refusal(const Outcome& outcome, int exit_code, std::string_view text) {
  std::string reason = reason_against_failure(outcome, exit_code, text);
  if (reason.empty() && has_own_rules() && !says(outcome, "\n  hint: "))
    reason = "it gives no hint";
  return with_outcome(reason, outcome);
}

}  // namespace blackbox

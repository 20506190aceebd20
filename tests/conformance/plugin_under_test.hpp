// SPDX-License-Identifier: Apache-2.0
// The plugin that the conformance suite runs. By default it is execcred-token-file. Any other
// plugin is tested by
//
//   conformance -- /path/of/plugin --its=arguments
//
// The plugin must give a credential with these arguments and the caller's environment.
#pragma once

#include "child_process.hpp"
#include "documents.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

// The rules for a plugin: those that clients need from any plugin, or also those that execcred's
// plugins promise in addition: their options, exit codes and forms of messages.
enum class Rules { protocol, execcred };
void use_rules(Rules rules);
Rules rules();
bool has_own_rules();

// The path of the default plugin under test; empty if there is none.
std::string default_plugin();

// `arguments` starts with the program's path.
void use_plugin(std::vector<std::string> arguments, std::vector<std::string> environment);

// The plugin's command, to be changed by a case.
Command plugin_command(std::vector<std::string> more_arguments = {},
                       std::vector<std::string> more_environment = {});

// With KUBERNETES_EXEC_INFO.
Command plugin_command_with(const std::string& exec_info,
                            std::vector<std::string> more_arguments = {});

// A secret that no failure may show from now on.
void remember_secret(std::string secret);
// The known secret that the text shows; empty if none.
std::string secret_in(std::string_view text);

// Whether the outcome is a success by the rules: exit 0, silent stderr, one document in the
// asked version that has not expired. Empty, or the reason and the whole outcome.
std::string violation_of_success(const Outcome& outcome, std::string_view version = kV1);
// A failure by the rules: the exit code, empty stdout, one short error line with its context, no
// secret, and `text` in its message. By the rules for any plugin: an exit code above 0, empty
// stdout and a short message without control characters and secrets. Empty, or the reason and the
// whole outcome.
std::string violation_of_failure(const Outcome& outcome, int exit_code, std::string_view text);
// The same, and it has a hint.
std::string violation_of_refusal(const Outcome& outcome, int exit_code, std::string_view text);
// The text for a report if the rule does not hold; else empty.
std::string violation_of_rule(bool holds, std::string text);
bool says(const Outcome& outcome, std::string_view text);

}  // namespace blackbox

#define CHECK_SUCCESS(...) CHECK(blackbox::violation_of_success(__VA_ARGS__) == "")
#define CHECK_REFUSAL(...) CHECK(blackbox::violation_of_refusal(__VA_ARGS__) == "")
#define CHECK_RULE(...) CHECK(blackbox::violation_of_rule(__VA_ARGS__) == "")
#define CHECK_FAILURE(...) CHECK(blackbox::violation_of_failure(__VA_ARGS__) == "")

// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include <execcred/base/text.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/os/program_file.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace execcred::wrap {
namespace {

constexpr std::array<std::string_view, 6> kShells = {"sh", "bash", "dash", "ash", "zsh", "busybox"};

// Files by which these programs choose their identity.
struct Known {
  std::string_view program;
  std::string_view file;
};
constexpr std::array<Known, 6> kKnown = {
    {{"aws", "~/.aws/credentials"},
     {"aws-iam-authenticator", "~/.aws/credentials"},
     {"az", "~/.azure/azureProfile.json"},
     {"gcloud", "~/.config/gcloud/configurations/config_default"},
     {"oci", "~/.oci/config"},
     {"doctl", "~/.config/doctl/config.yaml"}}};

bool has_template(const InnerCommand& command) {
  return std::any_of(
      command.arguments.begin(), command.arguments.end(), [](const std::string& argument) {
        for (const std::string_view name : {"{clusterName}", "{server.host}", "{config."}) {
          if (argument.find(name) != std::string::npos) return true;
        }
        return false;
      });
}

// A switch has no value in a mapping's arguments.
bool is_on(const GivenOptions& given, std::string_view option) {
  return given.has(option) && given.value(option) != "false";
}

}  // namespace

std::vector<Advice> advise(const GivenOptions& given) {
  std::vector<Advice> all;
  const Result<InnerCommand> command = parse_inner_command(given.value("command"));
  if (!command) return all;  // reported as a value that is wrong
  const std::string_view name = program_name(command->program);
  if (std::find(kShells.begin(), kShells.end(), name) != kShells.end()) {
    all.push_back({.message = "runs the shell " + in_quotes(command->program) +
                              ", which reads its arguments as commands",
                   .hint = "run the program itself, or a script with '#!'"});
  }
  if (!is_on(given, "cache")) return all;
  const std::string output = given.value("output");
  const bool is_for_all = (output == "token" || output == "json") &&
                          !is_on(given, "pass-cluster") && !has_template(*command);
  if (is_for_all && !given.has("allow-server")) {
    all.push_back({.severity = Advice::Severity::error,
                   .message = "has --cache without --allow-server and without a template in "
                              "--command: one credential would serve every server",
                   .hint = "add --allow-server=https://HOST[:PORT] for the intended servers"});
  }
  const auto* const known = std::find_if(kKnown.begin(), kKnown.end(),
                                         [name](const Known& one) { return one.program == name; });
  if (known != kKnown.end() && !given.has("identity-file")) {
    all.push_back({.message = "has --cache without --identity-file, and " + std::string(name) +
                              " reads " + std::string(known->file),
                   .hint = "add --identity-file=PATH for the files that choose its identity"});
  }
  return all;
}

}  // namespace execcred::wrap

// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include "arguments.hpp"

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

}  // namespace

void advise(const Options& options, const Settings& settings, std::vector<Finding>& findings) {
  const InnerCommand& command = options.command;
  if (command.program.empty()) return;  // missing or wrong, which is reported
  const std::string_view name = program_name(command.program);
  if (std::find(kShells.begin(), kShells.end(), name) != kShells.end()) {
    findings.push_back({.error = {.message = "runs the shell " + in_quotes(command.program) +
                                             ", which reads its arguments as commands",
                                  .hint = "run the program itself, or a script with '#!'"}});
  }
  if (!options.is_cached) return;
  const bool is_for_all = options.output != Output::exec_credential && !options.pass_cluster &&
                          !has_placeholder(command.arguments);
  if (is_for_all && !settings.is_given("allow-server")) {
    findings.push_back(
        {.severity = Finding::Severity::error,
         .error = {.message = "has --cache without --allow-server and without a template in "
                              "--command: one credential would serve every server",
                   .hint = "add --allow-server=https://HOST[:PORT] for the intended servers"}});
  }
  const auto* const known = std::find_if(kKnown.begin(), kKnown.end(),
                                         [name](const Known& one) { return one.program == name; });
  if (known != kKnown.end() && options.identity_files.empty()) {
    findings.push_back(
        {.error = {.message = "has --cache without --identity-file, and " + std::string(name) +
                              " reads " + std::string(known->file),
                   .hint = "add --identity-file=PATH for the files that choose its identity"}});
  }
}

}  // namespace execcred::wrap

// SPDX-License-Identifier: Apache-2.0
#include "inner_inputs.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::bootstrap {
namespace {

// Names of variables that execcred's plugins read, and prefixes of such names.
constexpr std::array<std::string_view, 8> kNames = {"KUBECONFIG",
                                                    "HOME",
                                                    "POD_NAMESPACE",
                                                    "NAMESPACE",
                                                    "KUBERNETES_SERVICE_HOST",
                                                    "KUBERNETES_SERVICE_PORT",
                                                    "CLOUDSDK_CONFIG",
                                                    "IMDS_ENDPOINT"};
constexpr std::array<std::string_view, 9> kPrefixes = {
    "EXECCRED_",         "AWS_",   "AZURE_", "GOOGLE_", "GCE_METADATA_", "IDENTITY_", "MSI_",
    "ACTIONS_ID_TOKEN_", "SPIFFE_"};

// These name logs and reports, and say when to refresh. They do not affect the credential, and
// `execcred sync` sets another EXECCRED_REFRESH_BEFORE for each run.
constexpr std::array<std::string_view, 4> kOfTheRun = {
    "EXECCRED_DEBUG", "EXECCRED_LOG_FILE", "EXECCRED_REPORT_FILE", "EXECCRED_REFRESH_BEFORE"};

// The variables that --subject-token-env names in the command. The option has one dash or two, and
// its value may be attached or the next argument.
std::vector<std::string> subject_variables(const InnerCommand& command) {
  constexpr std::string_view kOption = "subject-token-env";
  std::vector<std::string> names;
  const std::vector<std::string>& arguments = command.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (!argument.starts_with('-')) continue;
    argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
    if (!argument.starts_with(kOption)) continue;
    argument.remove_prefix(kOption.size());
    if (argument.starts_with('=')) {
      names.emplace_back(argument.substr(1));
    } else if (argument.empty() && i + 1 < arguments.size()) {
      names.push_back(arguments[i + 1]);
    }
  }
  return names;
}

bool is_read(std::string_view name, const std::vector<std::string>& subjects) {
  if (std::find(kOfTheRun.begin(), kOfTheRun.end(), name) != kOfTheRun.end()) return false;
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::find(subjects.begin(), subjects.end(), name) != subjects.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

void add_variables(const InnerCommand& command, Inputs& inputs) {
  const Environment& environment =
      inputs.unrecorded_environment("most variables are not for plugins");
  std::vector<std::string> subjects = subject_variables(command);
  // The option's form in the environment.
  if (const auto name = environment.get("EXECCRED_SUBJECT_TOKEN_ENV")) subjects.emplace_back(*name);
  std::vector<std::string> entries = last_of_each_name(environment.entries());
  std::sort(entries.begin(), entries.end());
  for (const std::string& entry : entries) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (!is_read(name, subjects)) continue;
    const std::string_view value = std::string_view(entry).substr(name.size() + 1);
    inputs.add_secret("environment." + std::string(name), value);
  }
}

}  // namespace

void plan_inner_plugin(const InnerCommand& command, Inputs& inputs) {
  inputs.add_whole_cluster();
  inputs.add_machine();  // as which the inner plugin may ask
  add_variables(command, inputs);
}

}  // namespace execcred::bootstrap

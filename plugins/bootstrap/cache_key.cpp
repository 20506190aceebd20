// SPDX-License-Identifier: Apache-2.0
#include "cache_key.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/exec/identity.hpp>
#include <execcred/json/json.hpp>

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
std::vector<std::string> subject_variables(const TokenCommand& command) {
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

void add_variables(const Environment& environment, const TokenCommand& command, CacheKey& key) {
  std::vector<std::string> subjects = subject_variables(command);
  // The option's form in the environment.
  if (const auto name = environment.get("EXECCRED_SUBJECT_TOKEN_ENV")) subjects.emplace_back(*name);
  std::vector<std::string> entries = last_of_each_name(environment.entries());
  std::sort(entries.begin(), entries.end());
  for (const std::string& entry : entries) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (!is_read(name, subjects)) continue;
    const std::string_view value = std::string_view(entry).substr(name.size() + 1);
    key.add("environment." + std::string(name), fingerprint(name, value));
  }
}

// The arguments may contain secrets.
void add_command(const TokenCommand& command, CacheKey& key) {
  key.add("credential", command.program);
  key.add("credential.fingerprint", fingerprint("command", command.arguments));
}

// Adds the client's text with all its members: the inner plugin may use members that this program
// does not know.
void add_cluster(const CredentialRequest& request, CacheKey& key) {
  // The same limits as when the document was read.
  const Result<json::Value> document = json::parse(request.document);
  const json::Value* const spec = document ? document->find("spec") : nullptr;
  const json::Value* const cluster = spec == nullptr ? nullptr : spec->find("cluster");
  const std::string text = cluster == nullptr ? std::string() : json::to_text(*cluster);
  if (request.info.cluster) key.add("server", request.info.cluster->server);
  key.add("cluster.fingerprint", fingerprint("cluster", text));
}

}  // namespace

CacheKey credential_key(const Options& options, const CredentialRequest& request,
                        const Environment& environment) {
  CacheKey key;
  key.add("plugin", "bootstrap");
  key.add("lifetime", format_duration(options.lifetime));
  if (options.via == Via::token_request) {
    key.add("via", "token-request").add("service-account", options.service_account);
    for (const std::string& audience : options.audiences) key.add("audience", audience);
  } else {
    key.add("via", "csr").add("user", options.user);
    for (const std::string& group : options.groups) key.add("group", group);
    key.add("signer", options.signer).add("key-type", options.key_type);
  }
  add_command(options.credential, key);
  add_cluster(request, key);
  identify_machine(key);  // as which the inner plugin may ask
  add_variables(environment, options.credential, key);
  return key;
}

}  // namespace execcred::bootstrap

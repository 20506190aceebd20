// SPDX-License-Identifier: Apache-2.0
// The mapping file (--clusterprofile-provider-file): which program stands for an access
// provider's name. The controller's own, and the only thing that decides what runs.
//
// The format is that of sigs.k8s.io/cluster-inventory-api pkg/access, keys in any case as Go's
// encoding/json takes them, unknown ones passed over. Unlike there, a mistake is found when the
// file is read, not when a cluster happens to need the entry.
#pragma once

#include <execcred/exec_credential.hpp>
#include <execcred/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct EnvironmentVariable {
  std::string name;
  std::string value;
};

// What runs: users[].user.exec of a kubeconfig v1.
struct ExecConfig {
  ApiVersion api_version = ApiVersion::v1;
  std::string command = {};  // an absolute path
  std::vector<std::string> args = {};
  std::vector<EnvironmentVariable> env = {};
  std::string install_hint = {};
  std::string interactive_mode = {};  // Never, IfAvailable, Always, or empty
  bool provide_cluster_info = false;
};

enum class ArgumentsPolicy { ignore, append };
enum class VariablesPolicy { ignore, append_if_not_exists, replace };

struct MappedProvider {
  std::string name;
  std::string path;  // "providers[0]"
  ExecConfig exec;
  ArgumentsPolicy arguments_policy = ArgumentsPolicy::ignore;  // profileSourcedCLIArgsPolicy
  VariablesPolicy variables_policy = VariablesPolicy::ignore;  // profileSourcedEnvVarsPolicy
};

struct ProviderMapping {
  std::vector<MappedProvider> providers;  // their order chooses
};

// Fails (configuration) with the path of the field at fault: among them a name that stands
// twice, an empty or relative command, an unknown version, policy or interactiveMode.
Result<ProviderMapping> parse_provider_mapping(std::string_view text);

// As users[].user.exec: an object with the fields in kubeconfig's order, empty ones left out.
json::Value to_json(const ExecConfig& exec);

}  // namespace execcred

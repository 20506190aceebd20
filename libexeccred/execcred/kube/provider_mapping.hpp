// SPDX-License-Identifier: Apache-2.0
// The mapping file (--clusterprofile-provider-file): which program runs for the name of an access
// provider. The file belongs to the controller, and it alone determines what runs.
//
// The format is that of sigs.k8s.io/cluster-inventory-api pkg/access. Keys may be in any case, as
// in Go's encoding/json, and unknown ones are ignored. Unlike there, a mistake is found when the
// file is read, and not when a cluster needs the entry.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/json/json.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::json {

class ObjectReader;
}

namespace execcred {

// The most bytes of a mapping file.
inline constexpr std::size_t kMaxMapping = 1024UL * 1024;

struct EnvironmentVariable {
  std::string name;
  std::string value;

  bool operator==(const EnvironmentVariable&) const = default;
};

// The program that runs, as in users[].user.exec of a kubeconfig v1.
struct ExecConfig {
  ApiVersion api_version = ApiVersion::v1;
  std::string command = {};  // an absolute path
  std::vector<std::string> args = {};
  std::vector<EnvironmentVariable> env = {};
  std::string install_hint = {};
  std::string interactive_mode = {};  // Never, IfAvailable, Always, or empty
  bool provide_cluster_info = false;

  bool operator==(const ExecConfig&) const = default;
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

// Fails (configuration) with the path of the field at fault. Examples are a name that occurs twice,
// an empty or relative command, and an unknown version, policy or interactiveMode.
Result<ProviderMapping> parse_provider_mapping(std::string_view text);

// The same for a file of at most 1 MiB that no other user can change. Fails also if it cannot be
// read (configuration, or unavailable if that may pass).
Result<ProviderMapping> load_mapping(const std::filesystem::path& path);

// The same, with all problems at once. `mapping` holds every entry that is an object, with what
// could be read of it. It is valid only if there are no problems.
struct MappingInspection {
  ProviderMapping mapping = {};
  std::vector<Error> problems = {};
};
MappingInspection inspect_provider_mapping(std::string_view text);

// Whether a command may be relative. It may in a kubeconfig, and for consumers that put a folder
// before it. A bare name is looked up in PATH; one with a slash is relative to the caller's working
// directory.
enum class CommandRule { absolute, any };

// The name that clients may look up in PATH: a bare name, or the "x" of "./x", because client-go
// 0.35 and newer cleans the command first (filepath.Clean). Empty for any other path.
std::string name_in_path(std::string_view command);

// The remedy for a command that is not absolute. It says how clients find such a command.
std::string relative_command_hint(std::string_view command);

struct ExecInspection {
  ExecConfig exec = {};
  std::vector<Error> problems = {};
};
ExecInspection inspect_exec_config(const json::ObjectReader& object, CommandRule rule);

// The names of the fields that are read: those of an entry of "providers", and those of execConfig.
std::vector<std::string_view> mapped_provider_fields();
std::vector<std::string_view> exec_config_fields();

// The object in users[].user.exec, with the fields in kubeconfig's order. Empty ones are left out,
// and an empty interactiveMode becomes Never.
json::Value to_json(const ExecConfig& exec);

}  // namespace execcred

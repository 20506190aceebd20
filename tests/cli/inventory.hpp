// SPDX-License-Identifier: Apache-2.0
// Mapping files, ClusterProfiles and the execcred commands that read them.
#pragma once

#include "child_process.hpp"
#include "sandbox.hpp"
#include "test_paths.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

inline const std::string kCli = EXECCRED_BIN "/execcred";
inline const std::string kTokenFile = EXECCRED_BIN "/execcred-token-file";

// One entry of a mapping: name, command, and further members of execConfig and of the entry, as
// JSON text (", \"args\": []").
std::string mapped(std::string_view name, std::string_view command,
                   std::string_view more_of_exec = "", std::string_view more = "");
std::string mapping(const std::vector<std::string>& entries);

// One access provider, with further members of its cluster.
std::string provider(std::string_view name, std::string_view server = "https://10.1.2.3:6443",
                     std::string_view more_of_cluster = "");
// A ClusterProfile in JSON; the providers go into `field` of its status.
std::string profile(std::string_view name, const std::vector<std::string>& providers,
                    std::string_view field = "accessProviders");
std::string extension(std::string_view name, std::string_view json);

inline constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";
inline constexpr std::string_view kArgumentsExtension =
    "clusterprofiles.multicluster.x-k8s.io/exec/additional-args";
inline constexpr std::string_view kVariablesExtension =
    "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs";

// A mapping and a ClusterProfile in a folder of their own, and commands that read them.
class Inventory {
 public:
  Inventory(std::string_view mapping_text, std::string_view profiles_text);

  // execcred COMMAND -m … -f … ARGUMENTS, in an environment of PATH and the given variables.
  Command command(std::string_view subcommand, std::vector<std::string> arguments = {},
                  std::vector<std::string> environment = {}) const;
  Outcome run(std::string_view subcommand, std::vector<std::string> arguments = {},
              std::vector<std::string> environment = {}) const;

  const Sandbox& sandbox() const { return sandbox_; }

 private:
  Sandbox sandbox_;
};

// One provider "p", whose program is the script; run by "execcred get".
Outcome get_from_script(std::string_view body, std::vector<std::string> arguments = {});
// A script's body that leaves a process in a session of its own, whose number is in the file.
std::string daemon_in(const std::string& file);
// A script's body that prints an ExecCredential with the token.
std::string printing(std::string_view token, std::string_view version = "v1");

}  // namespace blackbox

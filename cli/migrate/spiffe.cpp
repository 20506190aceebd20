// SPDX-License-Identifier: Apache-2.0
// JWT-SVIDs: k8s-spiffe-workload-jwt-exec-auth, and wrappers around spire-agent.
#include "peers.hpp"

#include <execcred/base/duration.hpp>

#include <array>
#include <string>

namespace execcred::migrate {
namespace {

constexpr std::array kWorkloadFlags = std::to_array<Rule>({ask("timeout")});

constexpr std::array kWorkloadVariables = std::to_array<Rule>({
    ask("SPIFFE_ENDPOINT_SOCKET"),
    keep("SPIFFE_JWT_AUDIENCE", "--audience"),
    ask("EXEC_CREDENTIAL_VERSION"),
});

constexpr std::array kAgentFlags = std::to_array<Rule>({
    keep("audience", "--audience").as_list(),
    keep("spiffeID", "--spiffe-id"),
    ask("socketPath"),
    ask("timeout"),
    drop("output", "execcred-spiffe prints ExecCredentials only"),
});

constexpr std::array kAgentVariables = std::to_array<Rule>({ask("SPIFFE_ENDPOINT_SOCKET")});

void carry_socket_variable(Migration& migration) {
  constexpr std::string_view kName = "SPIFFE_ENDPOINT_SOCKET";
  const std::string socket = migration.variable(kName);
  if (socket.empty()) return;
  if (socket.starts_with("unix:/") || socket.starts_with("tcp://")) {
    migration.keep_variable(kName);
  } else {
    migration.refuse(variable_subject(kName), "it must be unix:///PATH or tcp://ADDRESS:PORT");
  }
}

void carry_timeout(Migration& migration) {
  const std::string limit = migration.flag("timeout");
  if (limit.empty()) return;
  if (parse_timeout(limit)) {
    migration.keep("-timeout", "--timeout", limit);
  } else {
    migration.drop("-timeout", "ours is 8s, and at most 60s");
  }
}

void finish_workload(Migration& migration) {
  carry_timeout(migration);
  carry_socket_variable(migration);
  if (migration.variable("SPIFFE_ENDPOINT_SOCKET").empty()) {
    migration.note(
        "without SPIFFE_ENDPOINT_SOCKET it tried unix:///tmp/spire-agent/public/api.sock; "
        "execcred-spiffe has no default: set the variable, or --socket=URI");
  }
  if (!migration.has("--audience")) migration.add("--audience", "k8s", "the default there");
  const std::string version = migration.variable("EXEC_CREDENTIAL_VERSION");
  if (version == "v1beta1") {
    migration.keep(variable_subject("EXEC_CREDENTIAL_VERSION"), "--api-version", version);
  } else if (!version.empty()) {
    migration.drop(variable_subject("EXEC_CREDENTIAL_VERSION"),
                   "the client names the version; without one, it is v1");
  }
}

void finish_agent(Migration& migration) {
  carry_timeout(migration);
  const std::string path = migration.flag("socketPath");
  if (path.empty()) {
    carry_socket_variable(migration);
  } else if (path.front() != '/') {
    migration.refuse("-socketPath", "it is no absolute path");
  } else {
    migration.drop_variable("SPIFFE_ENDPOINT_SOCKET", "-socketPath counts");
    migration.keep("-socketPath", "--socket", "unix://" + path);
  }
  if (!migration.has("--audience") && !migration.has_profile_arguments()) {
    migration.refuse("-audience", "it is missing");
  }
  migration.note("it printed a bare token, and the exec protocol wants an ExecCredential");
}

}  // namespace

std::vector<Peer> spiffe_peers() {
  return {{.name = "k8s-spiffe-workload-jwt-exec-auth",
           .programs = {"k8s-spiffe-workload-jwt-exec-auth"},
           .plugin = "execcred-spiffe",
           .first = {"--type=jwt"},
           .flags = kWorkloadFlags,
           .variables = kWorkloadVariables,
           .is_good_at_many_servers = true,
           .finish = finish_workload},
          {.name = "spire-agent api fetch jwt",
           .programs = {"spire-agent"},
           .subcommand = {"api", "fetch", "jwt"},
           .plugin = "execcred-spiffe",
           .first = {"--type=jwt"},
           .flags = kAgentFlags,
           .variables = kAgentVariables,
           .is_good_at_many_servers = true,
           .finish = finish_agent}};
}

}  // namespace execcred::migrate

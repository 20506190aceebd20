// SPDX-License-Identifier: Apache-2.0
// The library for controllers: a mapping and a ClusterProfile give what to run, and running it
// gives a credential.
//
//   const ProviderMapping mapping = EXECCRED_TRY(parse_provider_mapping(text));
//   const Access access = EXECCRED_TRY(resolve_access(mapping, profile));
//   const Credential credential = EXECCRED_TRY(get_credential(access, Environment::copy()));
//
// The semantics are those of sigs.k8s.io/cluster-inventory-api pkg/access, without its defects:
// nothing is shared between two calls, the order of variables is always the same, a null
// extension means nothing, every field of the cluster is kept, an empty server is an error.
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/provider_mapping.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// Above a plugin's own default of 8 s, below the shortest patience among consumers of 10 s.
inline constexpr Duration kPluginLimit = std::chrono::seconds(9);

struct Access {
  std::string cluster_profile;  // "namespace/name"
  std::string provider;         // the name that the mapping and the ClusterProfile share
  std::string source;           // "status.accessProviders[0]"
  ExecConfig exec;              // with the ClusterProfile's arguments and variables, by policy
  Cluster cluster;

  // What the program gets in KUBERNETES_EXEC_INFO.
  ExecInfo exec_info() const;
};

// The first provider of the mapping that the ClusterProfile lists, or the one named `provider`.
// Fails with configuration (no such provider, a malformed cluster or extension, a policy that is
// not allowed for execcred's plugins), or no_credential (the server is not https).
Result<Access> resolve_access(const ProviderMapping& mapping, const ClusterProfile& profile,
                              std::string_view provider = {});

// The mapping's first provider that the ClusterProfile lists; with a name, that one. Null where
// there is none.
const MappedProvider* find_provider(const ProviderMapping& mapping, const ClusterProfile& profile,
                                    std::string_view name = {});

// Policies with which a plugin of execcred (execcred-*) would accept unchecked settings of a
// ClusterProfile: any variables, and arguments without --from-profile before them.
Status check_policies(const MappedProvider& provider);

// How the program runs; the defaults can be changed.
struct PluginRun {
  Duration limit = kPluginLimit;
  // Gets the program's standard error as it arrives, unchanged, at most 64 KiB, for a caller that
  // shows or logs it. Without it, only the error contains the first line.
  std::function<void(std::string_view)> on_error_output = {};
  // Gets how it ended: an exit code, or a signal that is not 0.
  std::function<void(int exit_code, int signal)> on_end = {};
  // A signal that ends this process ends the program and all that it started before. For a process
  // of one thread only.
  bool ends_with_signals = false;
  // When this descriptor becomes readable, the program is ended as at the limit; -1: none. For a
  // process with threads.
  int stop = -1;
};

// Runs the program as client-go does: the caller's variables, then the mapping's, then
// KUBERNETES_EXEC_INFO; the last one of a name is used. Its exit code becomes the error's kind, its
// error line the message; a credential without expirationTimestamp has no expires_at.
Result<Credential> get_credential(const Access& access, const Environment& environment,
                                  const PluginRun& run);
// What the program finds in its environment, NAME=VALUE.
std::vector<std::string> environment_of_plugin(const Access& access,
                                               const Environment& environment);
// Reads a failure from the program's error output: "NAME: error: …" with its context and hint, as
// execcred's plugins print them.
void take_error_output(std::string_view error_output, Error& error);
Result<Credential> get_credential(const Access& access, const Environment& environment,
                                  Duration limit = kPluginLimit);

}  // namespace execcred

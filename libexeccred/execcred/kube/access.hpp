// SPDX-License-Identifier: Apache-2.0
// A mapping and a ClusterProfile determine the program to run.
//
// The semantics are those of sigs.k8s.io/cluster-inventory-api pkg/access, without its defects:
// nothing is shared between two calls, the order of variables is always the same, a null
// extension means nothing, every field of the cluster is kept, an empty server is an error.
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/provider_mapping.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct Access {
  std::string cluster_profile;  // "namespace/name"
  std::string provider;         // the name that the mapping and the ClusterProfile share
  std::string source;           // "status.accessProviders[0]"
  ExecConfig exec;              // with the ClusterProfile's arguments and variables, by policy
  Cluster cluster;

  // What the program receives in KUBERNETES_EXEC_INFO.
  ExecInfo exec_info() const;
};

// The first provider of the mapping that the ClusterProfile lists, or the one named `provider`.
// Fails with configuration (no such provider, a malformed cluster or extension, a policy that is
// not allowed for execcred's plugins), or no_credential (the server is not https).
// engine/target makes the same choice for a fleet. There, a cluster without a provider is one that
// a rule refuses (Error::by_rule), and not a fault of the caller.
Result<Access> resolve_access(const ProviderMapping& mapping, const ClusterProfile& profile,
                              std::string_view provider = {});

// The cluster of an access provider, judged by every rule of resolve_access(): what `get` refuses,
// no other command takes. Fails as that does, with the field's path.
Result<Cluster> usable_cluster(const AccessProvider& provider, ProfileVersion version);

// The mapping's first provider that the ClusterProfile lists; with a name, only the provider of
// that name. It belongs to `mapping`. nullptr if there is none.
const MappedProvider* find_provider(const ProviderMapping& mapping, const ClusterProfile& profile,
                                    std::string_view name = {});

// The names of the providers that the ClusterProfile lists, for a message.
std::string names_listed(const ClusterProfile& profile);

// Fails (configuration) for policies with which a plugin of execcred (execcred-*) would accept
// unchecked settings of a ClusterProfile: any variables, and arguments without --from-profile
// before them.
Status check_policies(const MappedProvider& provider);

// The environment of the program, as NAME=VALUE: what get_credential() sets for the reports of an
// execcred plugin is not in it.
std::vector<std::string> environment_of_plugin(const Access& access,
                                               const Environment& environment);
// Reads a failure from the program's error output, and stores its message, context and hint in
// `error`. The form is that of execcred's plugins: "NAME: error: …".
void take_error_output(std::string_view error_output, Error& error);

}  // namespace execcred

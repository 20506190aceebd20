// SPDX-License-Identifier: Apache-2.0
// The clusters to examine, from ClusterProfiles or a kubeconfig.
#pragma once

#include "report.hpp"

#include <execcred/exec/exec_credential.hpp>
#include <execcred/kube/access.hpp>
#include <execcred/kube/provider_mapping.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace execcred::doctor {

struct Target {
  // Its names, and findings before the run.
  Item item = {};
  // The program to run, and how the cluster is reached; nullopt if the item has the reason why it
  // is unknown.
  std::optional<Access> access = std::nullopt;
  // A kubeconfig's token or certificate: nothing runs.
  std::optional<Credential> written = std::nullopt;
  // It is in a file that the kubeconfig names, which may be renewed; a credential in the kubeconfig
  // itself is not.
  bool is_renewed = false;
};

// The mapping with every fault of its entries; only those of a chosen entry are reported.
struct Mapping {
  ProviderMapping providers = {};
  std::vector<Error> problems = {};

  // Fails (configuration) where it cannot be read, or is no mapping at all.
  static Result<Mapping> load(const std::string& path);
  // The first fault of the entry; null where it has none.
  const Error* problem_of(const MappedProvider& provider) const;
  const MappedProvider* find(std::string_view name) const;
};

// `provider` is the name that must be used, or empty: the mapping's first that the profile has.
Target target_of(const Mapping& mapping, const ClusterProfile& profile,
                 const std::string& provider);
// A ClusterProfile with a name that cannot be read.
Target target_of(const ProfileName& name, const Error& error);

struct KubeconfigQuery {
  std::string path = {};
  std::string context = {};  // empty: the current one
  bool all_contexts = false;
};

// Fails (configuration) where the kubeconfig cannot be read, or lacks the context.
Result<std::vector<Target>> targets_of_kubeconfig(const KubeconfigQuery& query);

}  // namespace execcred::doctor

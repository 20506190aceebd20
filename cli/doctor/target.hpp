// SPDX-License-Identifier: Apache-2.0
// What is examined: the clusters of ClusterProfiles or of a kubeconfig.
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
  // Its names, and what was found before anything ran.
  Item item = {};
  // What runs, and how the cluster is reached; nullopt where the item says why that is not known.
  std::optional<Access> access = std::nullopt;
  // A kubeconfig's token or certificate: nothing runs.
  std::optional<Credential> written = std::nullopt;
  // It is in a file that the kubeconfig names; what is written in the kubeconfig nothing renews.
  bool is_renewed = false;
};

// The mapping with every fault of its entries, of which only those of a chosen one count.
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
// A ClusterProfile that has a name, and cannot be read.
Target target_of(const ProfileName& name, const Error& error);

struct KubeconfigQuery {
  std::string path = {};
  std::string context = {};  // empty: the current one
  bool all_contexts = false;
};

// Fails (configuration) where the kubeconfig cannot be read, or lacks the context.
Result<std::vector<Target>> targets_of_kubeconfig(const KubeconfigQuery& query);

}  // namespace execcred::doctor

// SPDX-License-Identifier: Apache-2.0
// The clusters to examine, from ClusterProfiles or a kubeconfig.
#pragma once

#include <execcred/engine/report.hpp>

#include <execcred/exec/exec_credential.hpp>
#include <execcred/kube/access.hpp>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/kube/provider_mapping.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace execcred::engine {

struct Target {
  // The cluster's names, and the findings that are known before the examination.
  Item item = {};
  // The program to run, and the cluster. nullopt if they are not known; the item then has the
  // reason.
  std::optional<Access> access = std::nullopt;
  // A token or certificate of the kubeconfig. No program is run for it.
  std::optional<Credential> written = std::nullopt;
  // The user that the kubeconfig acts as.
  Impersonation act_as = {};
  // `written` is in a file that the kubeconfig names, which another program may renew. A credential
  // in the kubeconfig itself is not renewed.
  bool is_renewed = false;
};

// What the caller knows of a provider that the mapping lacks, for a hint; empty if nothing.
using ProviderHint = std::string (*)(std::string_view provider);

// A mapping with the problems of its entries. Only those of an entry that is used are reported.
struct Mapping {
  ProviderMapping providers = {};
  // The first problem of the entries with this name.
  std::unordered_map<std::string, Error> problems = {};
  ProviderHint hint_on_provider = [](std::string_view) { return std::string(); };

  // Fails (configuration) if the file cannot be read or is not a mapping.
  static Result<Mapping> load(const std::string& path, ProviderHint hint_on_provider);
  // The first problem of the entry; nullptr if it has none.
  const Error* problem_of(const MappedProvider& provider) const;
  const MappedProvider* find(std::string_view name) const;
};

// `provider` is the name of the provider to use. If it is empty, the mapping's first provider that
// the ClusterProfile lists is used.
Target target_of(const Mapping& mapping, const ClusterProfile& profile,
                 const std::string& provider);
// The target for a ClusterProfile whose name is known, but which cannot be read because of `error`.
Target target_of(const ProfileName& name, const Error& error);

}  // namespace execcred::engine

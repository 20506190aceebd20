// SPDX-License-Identifier: Apache-2.0
// Istio's remote Secrets (label kIstioLabel), each data key of which is a cluster's ID.
#pragma once

#include "findings.hpp"

#include <execcred/kube/stored_secret.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::lint {

inline constexpr std::string_view kIstioLabel = "istio/multiCluster";             // "true"
inline constexpr std::string_view kIstioCluster = "networking.istio.io/cluster";  // annotation

class RemoteSecrets {
 public:
  void add(const StoredSecret& secret);

  // Reports clusters that are in two Secrets. It is an error if both Secrets are in one namespace,
  // which one istiod reads, and a warning if they are in different namespaces.
  void report(Run& run) const;

 private:
  struct Place {
    std::string name_space = {};
    std::string name = {};

    std::string full_name() const { return name_space + "/" + name; }
  };
  static void report(Run& run, const std::string& cluster, const Place& first, const Place& second);

  std::map<std::string, std::vector<Place>> places_;  // of a cluster's ID
};

}  // namespace execcred::lint

// SPDX-License-Identifier: Apache-2.0
#include "remote_secrets.hpp"

#include <execcred/base/text.hpp>

namespace execcred::lint {

void RemoteSecrets::add(const StoredSecret& secret) {
  for (const auto& [cluster, ignored] : secret.data) {
    places_[cluster].push_back({.name_space = secret.name_space, .name = secret.name});
  }
}

void RemoteSecrets::report(Run& run) const {
  for (const auto& [cluster, places] : places_) {
    std::map<std::string_view, const Place*> first_of;  // each namespace
    for (const Place& second : places) {
      // Reports the duplicate in the same namespace, if there is one, because that is worse.
      const auto [own, is_first] = first_of.emplace(second.name_space, &second);
      if (&second != &places.front()) {
        report(run, cluster, is_first ? places.front() : *own->second, second);
      }
    }
  }
}

void RemoteSecrets::report(Run& run, const std::string& cluster, const Place& first,
                           const Place& second) {
  const Scope scope = Scope(run, "hub: Secret " + second.full_name()).as(rule::kIstioCluster);
  const std::string path = join_path("data", step(cluster));
  const std::string message =
      "is cluster " + in_quotes(cluster) + ", as in Secret " + in_quotes(first.full_name()) +
      (first.name_space == second.name_space ? "" : " of another namespace");
  if (first.name_space == second.name_space) {
    scope.error(path, message,
                "remove one: Istio uses the Secret that it sees first, and ignores the other");
  } else {
    scope.warning(path, message,
                  "each istiod reads one namespace; have one Secret for each of them");
  }
}

}  // namespace execcred::lint

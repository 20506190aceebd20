// SPDX-License-Identifier: Apache-2.0
// Checks whether the mappings of a run have a program for the access providers of its
// ClusterProfiles. A missing one is the most common reason why a controller cannot reach a cluster.
#pragma once

#include "findings.hpp"

#include <set>
#include <string>

namespace execcred::lint {

// Records the names of a ClusterProfile's providers. `path` is the path of their list.
void note_providers(const Scope& scope, const std::string& path, std::set<std::string> names);

// Called after all documents were checked. It is an error if neither a mapping of the group nor a
// mapping that was named has a provider of the ClusterProfile. Without a mapping nothing is
// reported.
void check_providers_are_mapped(Run& run);

}  // namespace execcred::lint

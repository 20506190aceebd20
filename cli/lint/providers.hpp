// SPDX-License-Identifier: Apache-2.0
// Whether the mappings of a run have a program for the access providers of its ClusterProfiles: the
// commonest reason why a controller cannot reach a cluster.
#pragma once

#include "findings.hpp"

#include <set>
#include <string>

namespace execcred::lint {

// The names of a ClusterProfile's providers; `path` is where it has them.
void note_providers(const Scope& scope, const std::string& path, std::set<std::string> names);

// Called after all documents. It is an error if no mapping of the group, and no named mapping, has
// a provider of the ClusterProfile. Without a mapping nothing is reported.
void check_providers_are_mapped(Run& run);

}  // namespace execcred::lint

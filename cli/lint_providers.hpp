// SPDX-License-Identifier: Apache-2.0
// Whether the mappings of a run have a program for the access providers of its ClusterProfiles: the
// commonest reason why a controller cannot reach a cluster.
#pragma once

#include "lint_findings.hpp"

#include <set>
#include <string>

namespace execcred::lint {

// The names of a ClusterProfile's providers; `path` is where it has them.
void note_providers(const Scope& scope, const std::string& path, std::set<std::string> names);

// Once every document was looked at. A ClusterProfile without a provider that some mapping of its
// group has, or one of the mappings that were named, is an error; without a mapping, nothing is.
void check_providers_are_mapped(Run& run);

}  // namespace execcred::lint

// SPDX-License-Identifier: Apache-2.0
// Documents that map access providers to programs: the mapping file, and the same block in Kueue's
// configuration.
#pragma once

#include "findings.hpp"

#include <execcred/json/json_reader.hpp>

#include <string_view>

namespace execcred::lint {

// Checks a mapping file. `text` is the whole document, because keys that differ only in case are
// visible only in the text.
void check_mapping(const Scope& scope, std::string_view text);

// Checks multiKueue.clusterProfile.accessProviders of a Configuration (config.kueue.x-k8s.io).
void check_kueue(const Scope& scope, const json::ObjectReader& configuration);

}  // namespace execcred::lint
